import { startMeter } from '../meter';
import type { Plan } from '../plan';
import { column, type Scenario } from '../scenario';
import { startNodeRed } from '../subjects/node-red';

/** The start of Node-RED with no flows. */
export const start = ({ rounds }: Plan): Scenario => ({
  name: 'start',
  title: 'Start of Node-RED',
  subjects: [
    { name: 'core', label: 'Node-RED alone' },
    { name: 'ours', label: 'Node-RED with the package' },
  ],
  columns: [column('cpu', 'CPU', 'ms', 0, 'lower'), column('time', 'time', 'ms', 0)],
  goals: [{ of: 'ours', by: 'core', column: 'cpu', most: 1.07 }],
  // A start is short: more of them tell more.
  rounds: rounds * 9,
  async measure({ subject, packageFolder }) {
    const measured = startMeter();
    const { app } = await startNodeRed(subject === 'ours' ? packageFolder : undefined);
    const { cpu, rate } = measured(1);
    const nodes = app.nodes as unknown as { getType(type: string): unknown };
    if (!!nodes.getType('device-cloud-listen') !== (subject === 'ours')) {
      throw new Error('The package is not loaded as it should be.');
    }
    return { cpu: cpu / 1000, time: 1000 / rate };
  },
});
