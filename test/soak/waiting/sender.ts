// A process that sends commands to devices that come and go, until it is killed. It writes down what happens:
// `~id CHIPID` a command arrives, `+id CHIPID` it waits, `=id CODE` it has ended.
import { writeSync } from 'node:fs';
import { DeviceCloudClient, isDeviceCloudError } from '../../../src';
import {
  KeptCalls,
  StateFolder,
  WaitingStore,
  withOrigin,
  type KeptCommands,
} from '../../../src/for-nodes';

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

async function openJournal(): Promise<WaitingStore> {
  const log = (line: string): void => note(`!${line}`);
  const state = await StateFolder.open(folder, { application: 'soak', log });
  const journal = await state.journal('commands');
  if (!journal) throw new Error('there is no journal');
  return new WaitingStore(journal);
}

async function main(): Promise<void> {
  const client = new DeviceCloudClient({ baseUrl, appid, appkey });
  const store = await openJournal();
  const calls = new KeptCalls({
    store: () => Promise.resolve(store),
    failed: (error) => note(`!${String(error)}`),
  });
  const send = async ({ id, chipid }: Command, kept: KeptCommands): Promise<void> => {
    try {
      const mark = kept.marks.get(chipid);
      if (mark !== undefined) note(`=${id} UNCERTAIN`);
      else {
        const options = {
          ...({ when: whenOf(chipid), timeout: 2000, expires: 3_600_000 } as const),
          onProgress: ({ state: waits }: { state: string }) => {
            if (waits === 'awaiting-device') note(`+${id} ${chipid}`);
          },
        };
        await client.push(chipid, String(id), withOrigin(options, { kept }));
        note(`=${id} OK`);
      }
    } catch (error) {
      note(`=${id} ${isDeviceCloudError(error) ? error.code : String(error)}`);
    }
    if (!kept.isDetached) await kept.close();
  };

  for (const kept of await calls.take()) void send(kept.call.what() as Command, kept);
  note('*');
  const devices = process.env['DEVICES']?.split(',') ?? [];
  for (let n = 0; n < Number(count); n++) {
    const command = { id: Number(first) + n, chipid: devices[n % devices.length] ?? '' };
    note(`~${command.id} ${command.chipid}`);
    void send(command, calls.add({ chipids: [command.chipid], node: '', what: () => command }));
    // Some at once, some apart.
    if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

void main();
