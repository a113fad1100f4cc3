#!/bin/bash
# golden_all.sh -- the golden cases with the slow pairs among them: what `make test-golden` runs.
exec bash "$(dirname "$0")/golden.sh" all
