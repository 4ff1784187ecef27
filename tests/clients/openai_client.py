"""Chats with a Mnemic server through the official OpenAI client: only its base URL and key differ.

    openai_client.py URL TOKEN          URL as in http://127.0.0.1:7077/v1

The upstream is the scripted one of the tests. Exits with 1 on any mismatch. Needs the packages in
requirements.txt.
"""

import sys

from openai import AuthenticationError, OpenAI

QUESTION = [{"role": "user", "content": "What does Ana drink in the morning?"}]


def check(fine, what):
    if not fine:
        raise AssertionError(what)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    url, token = sys.argv[1:]
    client = OpenAI(base_url=url, api_key=token)

    models = client.models.list()
    check([model.id for model in models] == ["scripted"], models)

    answer = client.chat.completions.create(model="scripted", messages=QUESTION)
    text = answer.choices[0].message.content
    check("tea [mem:" in text, text)
    check(answer.usage.total_tokens == 15, answer.usage)

    pieces = []
    with client.chat.completions.create(
        model="scripted", messages=QUESTION, stream=True
    ) as stream:
        for chunk in stream:
            pieces.append(chunk.choices[0].delta.content or "")
    check(len(pieces) > 5, pieces)
    check("".join(pieces) == text, pieces)

    raw = client.chat.completions.with_raw_response.create(
        model="scripted",
        messages=QUESTION,
        extra_headers={"x-mnemic-memory": "off", "x-mnemic-conversation": "python"},
    )
    check(raw.headers["x-mnemic-conversation"] == "python", raw.headers)
    check("[mem:" not in raw.parse().choices[0].message.content, "memory was off")

    try:
        OpenAI(base_url=url, api_key="nonsense").models.list()
        check(False, "a wrong token was taken")
    except AuthenticationError as error:
        check("token of Mnemic" in str(error), error)


main()
