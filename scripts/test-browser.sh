#!/usr/bin/env bash
# The console in a real browser: three sites, three browsers, every page at three widths.
# Usage: test-browser.sh PATH-TO-HEDGEROW. Installs Chromium with apt-get and the packages of crates/console/tests/browser
# with npm where they are missing; without them says so and ends with 3.
set -euo pipefail
cd "$(dirname "$0")/.."
HEDGEROW=$(realpath "$1")
export HEDGEROW
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

missing() {
    echo "   $1"
    exit 3
}
if ! command -v chromium chromium-browser google-chrome >/dev/null; then
    echo "   installing Chromium with apt-get"
    { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
        >/dev/null 2>&1 || missing "no Chromium, and apt-get cannot install it"
fi
if ! command -v npm >/dev/null; then
    echo "   installing Node.js with apt-get"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm \
        >/dev/null 2>&1 || missing "no Node.js, and apt-get cannot install it"
fi
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || missing "Node.js is older than 18"
cd crates/console/tests/browser
if [ ! -d node_modules ]; then
    npm ci --silent --no-audit --no-fund >/dev/null 2>&1 || missing "npm cannot install what package-lock.json names"
fi
# One file after the other, since each has three sites.
for file in *.test.js; do
    node --test --test-reporter=spec "$file"
done
