import assert from 'node:assert/strict';
import { join } from 'node:path';
import { startDemo, type Demo } from '../../tooling/demo';
import { repository } from '../../tooling/repository';
import { freePort, takePort } from '../../tooling/servers/ports';
import { temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';

const SCRIPT = join(repository, 'demo', 'cluster.mjs');
const DEVICES = 30;

const start = (port: number, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Demo =>
  startDemo(port, {
    script: SCRIPT,
    args,
    env: { DEVICE_CLOUD_CLUSTER_DIR: temporaryFolder('cluster'), ...env },
  });

/** Nothing of it is there before the flows have started. */
interface Fleet {
  devices?: { channel: { state: string } | null }[];
  cluster?: { processes: number };
}

async function fleet(editor: string): Promise<Fleet> {
  const apps = (await (await fetch(`${editor}device-cloud/apps`)).json()) as { id: string }[];
  const answer = await fetch(`${editor}device-cloud/apps/${apps[0]?.id}/fleet`);
  return (await answer.json()) as Fleet;
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('npm run cluster', () => {
  it('says in one line that a port is taken, and what to install where there is no engine', async () => {
    const { port, release } = await takePort();
    const taken = start(port - 2);
    assert.equal(await taken.ended, 'exit code 1');
    assert.match(taken.log(), new RegExp(`^Port ${port} is taken .*npm run cluster -- --port`));
    await release();
    const without = start(port, [], { PATH: '' });
    assert.equal(await without.ended, 'exit code 1');
    assert.match(without.log(), /^Neither redis-server nor valkey-server is installed/);
  });

  it('starts three Node-RED that share the devices, prints their addresses, and ends all of it', async () => {
    const demo = start(await freePort());
    let pids: number[] = [];
    try {
      await demo.up();
      const members = [...demo.log().matchAll(/(http:\S+?\/) +process (\d+)/g)];
      const editors = members.map(([, editor = '']) => editor);
      pids = members.map(([, , pid]) => Number(pid));
      assert.equal(editors.length, 3);
      const connected = ({ devices = [] }: Fleet): number =>
        devices.filter(({ channel }) => channel?.state === 'connected').length;
      await until(async () => {
        const fleets = await Promise.all(editors.map(fleet));
        const shares = fleets.map(connected);
        return (
          fleets.every(({ cluster }) => cluster?.processes === 3) &&
          shares.every((share) => share > 0) &&
          shares.reduce((sum, share) => sum + share) === DEVICES
        );
      }, 'the devices are shared by three processes');
    } finally {
      // It would keep this process, too, if something has failed.
      demo.interrupt();
    }
    assert.equal(await demo.ended, 'exit code 0');
    await until(() => !pids.some(isAlive), 'all have ended');
  });
});
