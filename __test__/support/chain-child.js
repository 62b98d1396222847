/**
 * Runs one command in a process whose environment is the test's own, and prints how it ended.
 * Its argument is the sandbox's options, as JSON.
 */
import { AgentCoreRuntimeSandbox } from '../../js/native.js';

const options = JSON.parse(process.argv[2]);
const sandbox = new AgentCoreRuntimeSandbox(options);
const ended = await sandbox.executeCommand('true').catch(error => ({ ...error, message: error.message }));
console.log(JSON.stringify(ended));
