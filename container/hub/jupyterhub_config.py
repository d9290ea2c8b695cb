# ruff: noqa: F821
TEACHERS = {"teacher"}

c.Spawner.cmd = ["/srv/rushlight/.venv/bin/jupyterhub-singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {"JUPYTER_CONFIG_PATH": "/srv/rushlight/autograder/jupyter"}


def for_teachers(spawner):
    if spawner.user.name in TEACHERS:
        spawner.cmd = ["/srv/course/.venv/bin/jupyterhub-singleuser"]
        spawner.notebook_dir = "/srv/course"


c.Spawner.pre_spawn_hook = for_teachers

# in the container: its users may log in with their passwords
c.Authenticator.allow_all = True
c.PAMAuthenticator.open_sessions = False
