#!/usr/bin/env node
import { createRequire } from 'node:module';
import { HELP, readCommandLine } from './options/cli-options';
import { OptionError } from './options/option-readers';
import { startSimulator, type Simulator } from './simulator';

const NAME = '@device-cloud/node-red-device-cloud';

function version(): string {
  const manifest = createRequire(__filename)(`${NAME}/package.json`) as { version: string };
  return manifest.version;
}

const announcement = (simulator: Simulator): string => `The device cloud's simulator is running.

Put this into the config node "device-cloud-app" (service: cloud):
  Address          ${simulator.baseUrl}
  App id           ${simulator.appid}
  App key          ${simulator.appkey}
  Server key       ${simulator.serverKey}
  Server password  ${simulator.serverPassword}

Chip numbers of the devices: ${[...simulator.devices.keys()].join(', ') || 'none'}

Stop it with Ctrl-C.
`;

/** `answerDelay` of the options is `--answer-delay` of the command line. */
const flag = (option: string): string =>
  `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function explain(error: unknown): string {
  if (error instanceof OptionError) return `${flag(error.option)} ${error.problem}. See --help.`;
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}

async function main(): Promise<void> {
  const command = readCommandLine(process.argv.slice(2));
  if (command.help) {
    process.stdout.write(HELP);
    return;
  }
  if (command.version) {
    process.stdout.write(`${version()}\n`);
    return;
  }
  const simulator = await startSimulator(command.options);
  // Without listeners and connections the process ends by itself, with exit code 0.
  const stop = (): void => void simulator.close();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.write(announcement(simulator));
}

main().catch((error: unknown) => {
  process.stderr.write(`device-cloud-simulator: ${explain(error)}\n`);
  process.exitCode = 1;
});
