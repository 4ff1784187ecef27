"""Drives a Mnemic server with the official Python client, over both transports and eras.

    mcp_client.py http URL TOKEN          URL as in http://127.0.0.1:7077/mcp
    mcp_client.py stdio BINARY DATA_DIR   runs `BINARY mcp --data-dir DATA_DIR`

Exits with 1 on any mismatch. Needs the packages in requirements.txt. The client checks every
structured answer against the tool's output schema by itself.
"""

import asyncio
import sys
from contextlib import asynccontextmanager

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

DAILY = {
    "memory_recall",
    "memory_remember",
    "memory_get",
    "memory_supersede",
    "memory_promote",
    "memory_forget",
    "run_finish",
    "workspace_enable_memory",
    "workspace_disable_memory",
}
NOBODY = "0193a5b0-7e1c-7d3a-9b1f-2c3d4e5f6a7b"


def check(fine, what):
    if not fine:
        raise AssertionError(what)


@asynccontextmanager
async def over_http(url, token):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            yield streams


def transport(arguments):
    match arguments:
        case ["http", url, token]:
            return over_http(url, token)
        case ["stdio", binary, directory]:
            command = ["mcp", "--data-dir", directory]
            return stdio_client(StdioServerParameters(command=binary, args=command))
        case _:
            sys.exit(__doc__)


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    check(not result.is_error, f"{tool}: {result.content}")
    check(result.structured_content is not None, f"{tool} gave no structured content")
    check(result.content[0].text, f"{tool} gave no text")
    return result


async def tour(client):
    tools = (await client.list_tools()).tools
    names = {tool.name for tool in tools}
    check(DAILY <= names and len(names) <= 12, f"the tools are {sorted(names)}")
    check(all(tool.output_schema and tool.annotations for tool in tools), "a tool is bare")

    made = await call(client, "memory_remember", content="the zebra build runs at noon")
    memory = made.structured_content["id"]
    cited = f"[mem:{memory}]"
    check(cited in made.content[0].text, "the citation is not told")
    found = await call(client, "memory_recall", query="when does the zebra build run")
    check(memory in [item["id"] for item in found.structured_content["items"]], "not recalled")
    check(cited in found.content[0].text, "the recalled text does not cite")
    await call(client, "memory_promote", id=memory)
    got = await call(client, "memory.get", id=cited)
    check(got.structured_content["kind"] == "fact", "not promoted")
    newer = await call(client, "memory_supersede", id=memory, content="the zebra build runs at one")
    head = newer.structured_content["id"]
    done = await call(client, "run_finish", run_id=f"run-{head}", text=f"see [mem:{head}]")
    check(done.structured_content["counted"] == [head], "the citation was not counted")
    off = await call(client, "workspace_disable_memory")
    check(off.structured_content["memory"]["enabled"] is False, "memory is still on")
    await call(client, "workspace_enable_memory")

    wrong = await client.call_tool("memory_remember", {"content": "x", "tags": []})
    check(wrong.is_error and "tags" in wrong.content[0].text, f"not told apart: {wrong}")
    absent = await client.call_tool("memory_get", {"id": NOBODY})
    check(absent.is_error and "not_found" in absent.content[0].text, f"found: {absent}")
    try:
        await client.call_tool("memory_dance", {})
        check(False, "an unknown tool was called")
    except MCPError as error:
        check(error.error.code == -32602, f"{error}")

    prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
    check(prompts == {"remember", "recall", "promote", "forget"}, f"the prompts are {prompts}")
    recalled = await client.get_prompt("recall", {"query": "zebra build"})
    check(head in recalled.messages[0].content.text, "the prompt recalls nothing")
    resources = (await client.list_resources()).resources
    check(f"mem://memory/{head}" in [str(resource.uri) for resource in resources], "not listed")
    read = await client.read_resource(f"mem://memory/{head}")
    check("the zebra build runs at one" in read.contents[0].text, "not readable")
    templates = (await client.list_resource_templates()).resource_templates
    check(templates[0].uri_template == "mem://memory/{id}", f"{templates}")
    calls = [client.call_tool("memory_remember", {"content": f"at once {n}"}) for n in range(16)]
    together = await asyncio.gather(*calls)
    ids = {result.structured_content["id"] for result in together}
    check(len(ids) == 16, "calls at the same time were mixed up")
    for memory in ids | {head}:
        await call(client, "memory_forget", id=memory)


async def main():
    for mode, version in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", None)]:
        async with Client(transport(sys.argv[1:]), mode=mode) as client:
            spoken = client.protocol_version
            check(version in (None, spoken), f"{mode}: {spoken} is spoken")
            check("memory_recall" in (client.instructions or "memory_recall"), "no instructions")
            await tour(client)
            print(f"{sys.argv[1]} {mode}: fine ({spoken})")


def first_failure(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except Exception as error:  # Reported in one line; the exit code is what counts.
        sys.exit(f"failed: {first_failure(error)!r}")
