#!/bin/sh
# Install Debian packages, or say what is missing. Test tools' own browser downloads are not used:
# what they fetch is in no package registry, so a machine of CI may not reach it.
set -eu

missing=
for package in "$@"; do
  dpkg-query --show --showformat='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "missing:$missing. There is no apt here: install them by hand, and set CHROMIUM and" >&2
  echo "CHROMEDRIVER to their paths." >&2
  exit 1
fi
root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "missing:$missing. Run as root: apt-get install$missing" >&2
    exit 1
  }
  root=sudo
fi
echo "apt-get install$missing"
$root apt-get update -qq
# shellcheck disable=SC2086 # a list of names
DEBIAN_FRONTEND=noninteractive $root apt-get install -qq --no-install-recommends $missing >/dev/null
