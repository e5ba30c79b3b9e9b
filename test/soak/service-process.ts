import { fork } from 'node:child_process';
import { join } from 'node:path';
import { keep, type Child } from '../tooling/process';
import type {
  Command,
  Report,
  ServiceAddress,
  ServiceSettings,
  ServiceState,
} from './service-messages';

export interface ServiceProcess {
  address: ServiceAddress;
  child: Child;
  /** Has it do something, and tell how things stand then. */
  tell(command: Command): Promise<ServiceState>;
}

export async function startService(settings: ServiceSettings): Promise<ServiceProcess> {
  const forked = fork(join(__dirname, 'service.js'), { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const child = keep('The service', forked);
  const next = (): Promise<Report> => {
    const answer = new Promise<Report>((resolve) =>
      forked.once('message', (report: Report) => resolve(report)),
    );
    return child.guard(answer, 'the service has answered');
  };
  const first = next();
  forked.send(settings);
  const report = await first;
  if (!('ready' in report)) throw new Error('The service is not ready.');
  return {
    address: report.ready,
    child,
    async tell(command) {
      const answer = next();
      forked.send(command);
      const state = await answer;
      if ('ready' in state) throw new Error('The service began anew.');
      return state;
    },
  };
}
