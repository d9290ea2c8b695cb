# Installs both courses of a hub as docs/jupyterhub.md does, but without the tools of authors. LABS are the labs of the class.
set -e

install() {
    python3 -m venv "$1/.venv"
    "$1/.venv/bin/pip" install --constraint /srv/course/constraints.txt --editable "$1" jupyterhub
    cd "$1"/.venv/lib/python3.*/site-packages/torch # and without torch's tests of itself
    rm -rf test
    find bin -type f ! -name torch_shm_manager -delete
}

install /srv/course
cd /srv/course
.venv/bin/rushlight release $LABS --out /srv/rushlight
install /srv/rushlight
hardlink --quiet --ignore-time /srv/course/.venv /srv/rushlight/.venv # half the size, on the disk and in memory

cd /srv/rushlight/.venv/bin
./jupyter server extension disable --sys-prefix nbgrader.server_extensions.formgrader
for extension in formgrader course-list create-assignment; do
    ./jupyter labextension disable --level=sys_prefix @jupyter/nbgrader:$extension
done

/srv/rushlight/.venv/bin/python -m compileall -q /srv/rushlight/rushlight /srv/rushlight/autograder # a student cannot write there

mkdir -p /srv/exchange /srv/course/classroom
mkdir -p -m 700 /srv/hub
chmod 1777 /srv/exchange
install -d -o teacher -g teacher /srv/exchange/rushlight
find /srv/course -path /srv/course/.venv -prune -o -exec chown teacher: {} +
chmod 750 /srv/course
chmod 700 /home/teacher
