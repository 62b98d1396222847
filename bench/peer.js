/**
 * What users have today, written anew: the AWS SDK for JavaScript and Mastra's
 * `ProcessHandle` as the accumulator of output.
 */
import {
  BedrockAgentCoreClient,
  InvokeAgentRuntimeCommandCommand,
} from '@aws-sdk/client-bedrock-agentcore';
import { ProcessHandle, UnsupportedStdinCloseError } from '@mastra/core/workspace';

class CommandOutputAccumulator extends ProcessHandle {
  pid = 'agentcore-command';
  exitCode = undefined;

  async wait() {
    throw new Error('a command is waited for by its stream');
  }

  async kill() {
    return false;
  }

  async sendStdin() {
    throw new Error('AgentCore Runtime commands have no stdin');
  }

  async closeStdin() {
    throw new UnsupportedStdinCloseError('agentcore');
  }
}

export class PeerSandbox {
  constructor({ agentRuntimeArn, runtimeSessionId, region, endpoint, credentials }) {
    this.agentRuntimeArn = agentRuntimeArn;
    this.runtimeSessionId = runtimeSessionId;
    this.client = new BedrockAgentCoreClient({ region, endpoint, credentials });
  }

  async executeCommand(command, _args, options = {}) {
    const started = Date.now();
    const output = new CommandOutputAccumulator({
      onStdout: options.onStdout,
      onStderr: options.onStderr,
      maxRetainedBytes: options.maxRetainedBytes ?? Infinity,
    });
    const response = await this.client.send(
      new InvokeAgentRuntimeCommandCommand({
        agentRuntimeArn: this.agentRuntimeArn,
        runtimeSessionId: this.runtimeSessionId,
        contentType: 'application/json',
        accept: 'application/vnd.amazon.eventstream',
        body: { command, timeout: 300 },
      }),
    );
    let exitCode = 1;
    for await (const event of response.stream) {
      const { contentDelta, contentStop } = event.chunk ?? {};
      if (contentDelta?.stdout) output.emitStdout(contentDelta.stdout);
      if (contentDelta?.stderr) output.emitStderr(contentDelta.stderr);
      if (contentStop) exitCode = contentStop.exitCode ?? 1;
    }
    return {
      exitCode,
      success: exitCode === 0,
      stdout: output.stdout,
      stderr: output.stderr,
      executionTimeMs: Date.now() - started,
      stdoutDroppedBytes: output.stdoutDroppedBytes,
    };
  }

  async close() {
    this.client.destroy();
  }
}
