# Makes the users of the class from lines NAME:PASSWORD, and starts the judge and the hub. A user keeps the number that owns the home folder,
# because files in the exchange belong to numbers. The list is in root's home, so that students cannot read it.
# The judge runs as root, because it becomes the user of each notebook.

number() {
    if [ -d "/home/$1" ]; then
        stat --format %u "/home/$1"
    else # one more than any home has, so that nobody gets the files of a user who has left
        echo $(($(stat --format %u /home/* | sort --numeric-sort | tail --lines 1) + 1))
    fi
}

tr --delete '\r' </root/users | while IFS=: read -r name password || [ -n "$name" ]; do
    [ -z "$name" ] && continue
    if [ -z "$password" ] || [ "$(id -u "$name" 2>/dev/null || echo 1000)" -lt 1000 ]; then
        echo "users: $name has no password, or is a name of the system: left out"
        continue
    fi
    if ! id "$name" >/dev/null 2>&1; then # a name that cannot be one is named, and the others are made
        useradd --uid "$(number "$name")" --key HOME_MODE=0700 --create-home --shell /bin/bash "$name" || continue
    fi
    echo "$name:$password" | chpasswd
done

chmod 1777 /srv/exchange # a volume of an earlier image is not sticky, and may be without the course's folder
[ -e /srv/exchange/rushlight ] || install -d -o teacher -g teacher /srv/exchange/rushlight

while :; do # one judge for all notebooks, which the page has systemd start again
    XDG_CACHE_HOME=/var/cache nice -n 5 /srv/rushlight/.venv/bin/rushlight judge
    sleep 5
done &

exec /srv/rushlight/.venv/bin/jupyterhub --config /etc/jupyterhub/jupyterhub_config.py
