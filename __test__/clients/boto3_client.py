"""boto3 against the local runtime: prints what it saw as JSON.

Arguments: endpoint, region, ARN, access key id, secret access key. Reads from stdin, line by
line, the names of calls; answers each with one line.
"""

import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

endpoint, region, arn, key, secret = sys.argv[1:6]
client = boto3.client(
    "bedrock-agentcore",
    endpoint_url=endpoint,
    region_name=region,
    aws_access_key_id=key,
    aws_secret_access_key=secret,
    config=Config(retries={"total_max_attempts": 1}),
)
session = "boto3-session-0123456789-0123456789-0123456789"


def invoke(command):
    answer = client.invoke_agent_runtime_command(
        agentRuntimeArn=arn,
        runtimeSessionId=session,
        body={"command": command, "timeout": 20},
    )
    seen = {"session": answer["runtimeSessionId"], "stdout": "", "stderr": "", "kinds": []}
    for event in answer["stream"]:
        chunk = event["chunk"]
        for member in chunk:
            if member not in seen["kinds"]:
                seen["kinds"].append(member)
        delta = chunk.get("contentDelta", {})
        seen["stdout"] += delta.get("stdout", "")
        seen["stderr"] += delta.get("stderr", "")
        if "contentStop" in chunk:
            seen["stop"] = chunk["contentStop"]
    return seen


def stop():
    answer = client.stop_runtime_session(
        agentRuntimeArn=arn, runtimeSessionId=session, clientToken="t" * 36
    )
    return {"session": answer["runtimeSessionId"]}


for line in sys.stdin:
    call = json.loads(line)
    try:
        seen = stop() if call["call"] == "stop" else invoke(call["command"])
    except ClientError as error:
        seen = {
            "class": type(error).__name__,
            "code": error.response["Error"]["Code"],
            "message": error.response["Error"]["Message"],
            "status": error.response.get("ResponseMetadata", {}).get("HTTPStatusCode"),
        }
    except Exception as error:  # the stream's errors have classes of their own
        seen = {"class": type(error).__name__, "text": str(error)}
    print(json.dumps(seen), flush=True)
