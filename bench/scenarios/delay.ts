import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { watchDelay } from '../meter';
import type { Plan } from '../plan';
import { column, CPU, type Scenario } from '../scenario';
import { LIMIT, OURS } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

const PER_SECOND = 1000;
const SECONDS = 20;

/** A process beside this one that does nothing: what the machine makes of the delay. */
function startIdle(): ChildProcess {
  return fork(join(__dirname, '..', 'idle.js'), { execArgv: [] });
}

/** How long the event loop is blocked while uploads come on many channels at a steady rate. */
export const delay = (plan: Plan): Scenario => ({
  name: 'delay',
  title: `Delay of the event loop under ${plan.channels} channels, ${PER_SECOND} uploads a second`,
  subjects: [LIMIT, OURS],
  columns: [
    column('above', 'p99 above the idle process', 'ms', 1, 'lower'),
    column('p99', 'p99', 'ms', 1),
    column('idle', 'p99 of the idle process', 'ms', 1),
    column('most', 'longest', 'ms', 0),
    CPU,
  ],
  goals: [{ of: 'ours', by: 'limit', column: 'above', most: 1, enough: 20 }],
  rounds: plan.channelRounds,
  async measure(job) {
    const { service, plan } = job;
    const receiver = await Receiver.start(job, 'http');
    const { histories } = await service.state();
    await receiver.open(plan.channels);
    if (job.subject === OURS.name) await service.historiesRead(histories + plan.channels);
    const idle = startIdle();
    await once(idle, 'message');
    const measured = watchDelay();
    const { cpu = NaN } = await receiver.receive(SECONDS, PER_SECOND);
    const { p99, most } = measured();
    idle.send('end');
    const [beside] = (await once(idle, 'message')) as [{ p99: number }];
    return { above: p99 - beside.p99, p99, idle: beside.p99, most, cpu };
  },
});
