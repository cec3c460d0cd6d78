// Flagpost's hooks in opencode: delivered briefs, the task and others' reservations reach the agent.
//
// `flagpost hooks install --agent opencode` puts it into .opencode/plugin/. It acts where FLAGPOST_WORKER is
// set, as in the agents of `flagpost run`, and in a registered repository.
import { spawnSync } from 'node:child_process';

// `--deny-reserved` sets it.
const denyReserved = false;

const ask = (event, sent) => {
  const asked = spawnSync(process.env.FLAGPOST_BIN ?? 'flagpost', ['hook', event, '--agent', 'opencode'], {
    input: JSON.stringify(sent),
    encoding: 'utf8',
    timeout: 5_000,
  });
  try {
    return JSON.parse(asked.stdout);
  } catch {
    return {};
  }
};
const told = (event, sent) => ask(event, sent).hookSpecificOutput?.additionalContext;

export const Flagpost = async ({ directory }) => {
  if (process.env.FLAGPOST_WORKER === undefined) return {};
  let begun;
  return {
    'experimental.chat.system.transform': async (_, output) => {
      begun ??= told('session-start', { cwd: directory }) ?? '';
      if (begun !== '') output.system.push(begun);
    },
    'tool.execute.before': async (input, output) => {
      if (!denyReserved) return;
      const said = ask('pre-tool', { cwd: directory, tool_name: input.tool, tool_input: output.args });
      if (said.decision === 'deny') throw new Error(said.reason);
    },
    'tool.execute.after': async (input, output) => {
      const text = told('batch', { cwd: directory, tool_name: input.tool });
      if (text !== undefined) output.output += `\n\n${text}`;
    },
  };
};
