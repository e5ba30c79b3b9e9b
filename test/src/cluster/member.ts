import { Cluster } from '../../../src/cluster/cluster';
import { SharedStore } from '../../../src/store/shared';

/** A process of its own that joins, and prints of how many shares it has the say. Arguments: url, lease in ms. */
const [, , url = '', lease] = process.argv;

async function main(): Promise<void> {
  let shown = -1;
  let begun = 0;
  const show = (): void => {
    if (begun === shown) return;
    shown = begun;
    process.stdout.write(`has ${begun}\n`);
  };
  const count = (change: number) => (): void => {
    begun += change;
    setImmediate(show);
  };
  const cluster = await Cluster.open({ url, lease: Number(lease) }, '1', new SharedStore(), {
    begin: count(1),
    end: count(-1),
    finish: () => Promise.resolve(),
    ...{ wants: () => true, settings: {} },
    handle: () => Promise.resolve(undefined),
    onOrphan: () => undefined,
  });
  process.once('SIGTERM', () => {
    void cluster.close().then(() => process.exit());
  });
}

void main();
