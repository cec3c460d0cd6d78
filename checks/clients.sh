# The whole matrix of tests with real clients: where their inputs are not those for which it passed last.

# clients: the matrix, where checks/clients.sum is of other inputs; always with --all. Once it has passed, the sum
# is written anew, to be committed.
clients() {
    sum=$(checks/clients-sum)
    if [ "$mode" != all ] && [ "$sum" = "$(cat checks/clients.sum 2>/dev/null)" ]; then
        echo "the clients, their pins and what starts them are as when all of it passed"
        return
    fi
    grep "/cli .*/it-" "$out/binaries" >"$out/clients"
    while read -r directory binary; do
        run_binary "$directory" "$binary" --test-threads=3 --ignored agents:: || return
    done <"$out/clients"
    echo "$sum" >checks/clients.sum
}
