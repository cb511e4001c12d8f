#!/bin/sh
. "$(dirname -- "$0")/lib.sh"
. "$REPO/scripts/guests.sh"
taps=/tmp/w/lanes/taps; rm -rf $taps; mkdir -p $taps
NAME=x selftests mctracer 4 2 10 "$1"
