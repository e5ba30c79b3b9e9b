import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Simulator } from '../../../../src/simulator';
import { startCloud } from '../node-red';
import { until } from '../../../tooling/until';
import { CHIPIDS, SLOW, type FromNodeRed, type Question, type Report } from './messages';

/** Milliseconds between two uploads. */
const PERIOD = 2;

const holds: Record<Question, (cloud: Simulator) => boolean> = {
  'is a push in flight?': (cloud) => cloud.device(SLOW).inFlight === 1,
  'is every socket closed?': (cloud) => cloud.sockets() === 0,
};

/** Runs Node-RED against a service to its report. */
function report(cloud: Simulator): Promise<Report> {
  const child = fork(join(__dirname, 'node-red.js'), [cloud.baseUrl, cloud.appid], {
    execArgv: ['--expose-gc', '--enable-source-maps'],
    env: { ...process.env, NODE_V8_COVERAGE: undefined },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (log += text));
  }
  return new Promise<Report>((resolve, reject) => {
    let result: Report | undefined;
    const fail = (error: Error): void => {
      kill();
      reject(error);
    };
    child.on('message', (message: FromNodeRed) => {
      if ('report' in message) result = message.report;
      else {
        const { question } = message;
        until(() => holds[question](cloud), question).then(() => child.send('it is so'), fail);
      }
    });
    child.once('error', fail);
    child.once('close', (code, signal) => {
      process.off('exit', kill);
      if (result && code === 0) resolve(result);
      else reject(new Error(`Node-RED ended with ${signal ?? `exit code ${code}`}:\n${log}`));
    });
  });
}

/** Deploys a flow a hundred times under traffic, in a separate Node-RED. */
export async function redeployUnderTraffic(): Promise<{ cloud: Simulator; report: Report }> {
  const cloud = await startCloud({
    devices: 5,
    answerDelay: 5,
    offlineAfter: 60_000,
  });
  cloud.delay(SLOW, 60_000);
  // As if the service kept no more: a heap that grows with a history would be no leak.
  cloud.rewriteHistory((records) => records.slice(-500));
  let uploads = 0;
  const traffic = setInterval(() => {
    cloud.upload(CHIPIDS[uploads % CHIPIDS.length]!, `upload ${uploads++}`);
  }, PERIOD);
  try {
    return { cloud, report: await report(cloud) };
  } finally {
    clearInterval(traffic);
  }
}
