# SPDX-License-Identifier: MIT
# Sourced by what runs a browser. browser_begin: fills $SCRATCH/node_modules, sets CHROMIUM; where
# that cannot be done it says why and returns 77.
# shellcheck shell=bash
BROWSER_PACKAGES=(playwright-core@1.55.0 axe-core@4.10.3)

browser_begin() {
    CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v google-chrome)}
    export CHROMIUM
    if [ -z "$CHROMIUM" ] || ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        echo "no chromium, node or npm; ./install-deps.sh --dev installs them"
        return 77
    fi
    if ! (cd "$SCRATCH" && echo '{"private": true}' >package.json &&
        timeout 120 npm install --silent --no-audit --no-fund --ignore-scripts \
            "${BROWSER_PACKAGES[@]}") >"$SCRATCH/npm.log" 2>&1; then
        tail -n 3 "$SCRATCH/npm.log"
        echo "npm cannot install ${BROWSER_PACKAGES[*]} here"
        return 77
    fi
}
