#!/bin/sh
# Brings bubblewrap (the sandbox) and a C++ compiler where it may; elsewhere says in a line how to get them.
# `sh system.sh chromium hub` brings as well the browser for the tests of pages, and JupyterHub's proxy for the tests of a hub.
missing=""
proxy=.venv/bin/configurable-http-proxy
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v c++ >/dev/null 2>&1 || missing="$missing g++"
for wanted in "$@"; do
    case $wanted in
    chromium)
        command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
            missing="$missing chromium"
        ;;
    hub) [ -e $proxy ] || command -v npm >/dev/null 2>&1 || missing="$missing npm" ;;
    esac
done

bring() {
    command -v apt-get >/dev/null 2>&1 || return 1
    if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; else return 1; fi
    echo "installing$missing"
    { $as_root apt-get update -qq && $as_root apt-get install -y -qq $missing; } >/dev/null 2>&1
}

if [ -n "$missing" ] && ! bring; then
    echo "missing:$missing. On Debian or Ubuntu: sudo apt-get install$missing. Labs work without; grading needs bubblewrap; tests of pages need chromium."
fi
case " $* " in
*" hub "*)
    [ -e $proxy ] || npm install --silent --global --prefix .venv configurable-http-proxy@5.3.0 >/dev/null 2>&1 ||
        echo "missing: configurable-http-proxy, an npm package. Only the tests of a hub need it."
    ;;
esac
