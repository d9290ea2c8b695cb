#!/bin/sh
# Brings bubblewrap (the sandbox) and a C++ compiler where it may; elsewhere says in a line how to get them.
# `sh system.sh chromium` brings the browser for the tests of pages as well.
missing=""
command -v bwrap >/dev/null 2>&1 || missing="$missing bubblewrap"
command -v c++ >/dev/null 2>&1 || missing="$missing g++"
if [ "$1" = chromium ]; then
    command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
        missing="$missing chromium"
fi
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root="no"; fi
    if [ "$as_root" != no ]; then
        echo "installing$missing"
        { $as_root apt-get update -qq && $as_root apt-get install -y -qq $missing; } >/dev/null 2>&1 && exit 0
    fi
fi
echo "missing:$missing. On Debian or Ubuntu: sudo apt-get install$missing. Labs work without; grading needs bubblewrap; tests of pages need chromium."
