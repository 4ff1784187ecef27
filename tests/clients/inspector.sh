#!/usr/bin/env bash
# Drives a Mnemic server with the official MCP Inspector on the command line.
#
#   inspector.sh http URL TOKEN          URL as in http://127.0.0.1:7077/mcp
#   inspector.sh stdio BINARY DATA_DIR   runs `BINARY mcp --data-dir DATA_DIR`
#
# Exits with 1 on any mismatch. Needs node and npx; INSPECTOR chooses another version.
set -euo pipefail

package="${INSPECTOR:-@modelcontextprotocol/inspector@2}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

fail() {
  echo "failed: $*" >&2
  exit 1
}

case "${1:-}" in
  http) [ $# -eq 3 ] || fail "usage: inspector.sh http URL TOKEN" ;;
  stdio) [ $# -eq 3 ] || fail "usage: inspector.sh stdio BINARY DATA_DIR" ;;
  *) fail "usage: inspector.sh http URL TOKEN | stdio BINARY DATA_DIR" ;;
esac

# A file keeps the token out of the list of processes.
(
  umask 077
  node -e '
    const [kind, first, second] = process.argv.slice(1);
    const server = kind === "http"
      ? { type: "streamable-http", url: first, headers: { Authorization: `Bearer ${second}` } }
      : { type: "stdio", command: first, args: ["mcp", "--data-dir", second] };
    console.log(JSON.stringify({ mcpServers: { mnemic: server } }));
  ' "$@" > "$work/config.json"
)

# Runs one method; its answer is in $work/answer.json.
inspect() {
  npx -y "$package" --cli --config "$work/config.json" --server mnemic --method "$@" \
    > "$work/answer.json" 2> "$work/errors" || {
    cat "$work/errors" >&2
    fail "inspector --method $*"
  }
}

# Evaluates JavaScript over the answer `a`; it must be true.
expect() {
  node -e '
    const a = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    if (!eval(process.argv[2])) { console.error(JSON.stringify(a, null, 1)); process.exit(1); }
  ' "$work/answer.json" "$1" || fail "$1"
}

# Prints an expression over the answer.
take() {
  node -p 'const a = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); eval(process.argv[2])' \
    "$work/answer.json" "$1"
}

inspect tools/list --strict
expect 'a.tools.length <= 12'
expect 'a.tools.some(t => t.name === "memory_recall") && a.tools.every(t => !t.name.includes("."))'
expect 'a.tools.every(t => t.outputSchema && t.annotations.openWorldHint === false)'

inspect tools/call --tool-name memory_remember --tool-arg "content=the heron build runs at noon"
expect '!a.isError && a.structuredContent.kind === "memory"'
id="$(take 'a.structuredContent.id')"

inspect tools/call --tool-name memory_recall --tool-args-json '{"query":"heron build","limit":5}'
expect "a.structuredContent.items.some(i => i.id === '$id')"
expect "a.content[0].text.includes('[mem:$id]')"

inspect tools/call --tool-name memory_promote --tool-arg "id=$id"
expect 'a.structuredContent.kind === "fact"'

inspect prompts/list
expect 'a.prompts.map(p => p.name).sort().join() === "forget,promote,recall,remember"'
inspect prompts/get --prompt-name recall --prompt-args "query=heron build"
expect "a.messages[0].content.text.includes('$id')"

inspect resources/templates/list
expect 'a.resourceTemplates[0].uriTemplate === "mem://memory/{id}"'
inspect resources/list
expect "a.resources.some(r => r.uri === 'mem://memory/$id')"
inspect resources/read --uri "mem://memory/$id"
expect 'a.contents[0].text.includes("heron build")'

inspect tools/call --tool-name memory_forget --tool-arg "id=$id"
expect 'a.structuredContent.erased === false'

echo "$1 inspector: fine"
