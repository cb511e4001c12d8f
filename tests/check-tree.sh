#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that patches, series and readable folders agree with each other and with the patched tree.
. "${0%/*}/../scripts/test-lib.sh"

plan 1
check "patches, series and folders agree" "$REPO/scripts/check-tree"
finish
