// A process that sends commands to devices that come and go, until it is killed. It writes down what happens:
// `~id CHIPID` a command arrives, `+id CHIPID` it waits, `=id CODE` it has ended.
import { writeSync } from 'node:fs';
import { DeviceCloudClient, isDeviceCloudError } from '../../../src';
import { Files, SavedCalls, Store, withOrigin, type SavedCall } from '../../../src/for-nodes';

interface Command {
  id: number;
  chipid: string;
}

const [baseUrl = '', appid = '', appkey = '', folder = '', first = '0', count = '0'] =
  process.argv.slice(2);

/** Written when it returns: a killed process loses nothing of it. */
const note = (line: string): void => void writeSync(1, `${line}\n`);

/** Even devices have commands that wait for the list, too; each device one kind, which has an order. */
const whenOf = (chipid: string) => (Number(chipid) % 2 === 0 ? 'online' : 'upload');

async function main(): Promise<void> {
  const log = (line: string): void => note(`!${line}`);
  const store = new Store(new Files(folder, { of: () => 'soak', log }));
  store.onProblem.add(() => store.problem && log(store.problem));
  const client = new DeviceCloudClient({ baseUrl, appid, appkey, store });
  await store.loaded;
  const calls = new SavedCalls(store);
  const send = async ({ id, chipid }: Command, kept: SavedCall): Promise<void> => {
    try {
      const { end, isBegun } = kept.of(chipid) ?? {};
      if (end) note(`=${id} ${'code' in end ? end.code : 'OK'}`);
      else if (isBegun) note(`=${id} UNCERTAIN`);
      else {
        const options = {
          ...({ when: whenOf(chipid), timeout: 2000, expires: 3_600_000 } as const),
          onProgress: ({ state: waits }: { state: string }) => {
            if (waits === 'awaiting-device') note(`+${id} ${chipid}`);
          },
        };
        await client.push(chipid, String(id), withOrigin(options, { saved: kept }));
        note(`=${id} OK`);
      }
    } catch (error) {
      note(`=${id} ${isDeviceCloudError(error) ? error.code : String(error)}`);
    }
    if (!kept.isDetached) kept.close();
  };

  for (const kept of calls.take()) void send(kept.whatOf(kept.chipids[0] ?? '') as Command, kept);
  note('*');
  const devices = process.env['DEVICES']?.split(',') ?? [];
  for (let n = 0; n < Number(count); n++) {
    const command = { id: Number(first) + n, chipid: devices[n % devices.length] ?? '' };
    note(`~${command.id} ${command.chipid}`);
    void send(
      command,
      calls.add('', [command.chipid], () => command),
    );
    // Some at once, some apart.
    if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

void main();
