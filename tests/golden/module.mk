# Golden cases: KegAlign's own output through the oracle. The fast ones in `make test`, all in `make test-golden`.
test_scripts += tests/golden/golden.sh
golden_scripts += tests/golden/golden_all.sh
