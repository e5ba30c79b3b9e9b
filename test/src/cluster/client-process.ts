import { ClusterClient } from '../../../src/cluster-client';
import { SavedCalls } from '../../../src/commands/saved-call';
import { SharedStore } from '../../../src/store/shared';
import { isDeviceCloudError, type Position } from '../../../src/index';

/**
 * A process of its own that listens to all devices, and prints a line for each upload: `upload CHIP REPLAYED TEXT`. Each line that it
 * reads is a push, `CHIP TEXT`, whose end it prints: `pushed TEXT CODE UNCERTAIN`. Arguments: address of the service, of Redis, lease in
 * ms, id and key of the application, chip numbers.
 */
const [, , baseUrl = '', url = '', lease, appid = '', appkey = '', ...chipids] = process.argv;

const print = (...words: unknown[]): void => void process.stdout.write(`${words.join(' ')}\n`);

async function push(client: ClusterClient, chipid: string, text: string): Promise<void> {
  try {
    await client.push(chipid, text);
    print('pushed', text, 'OK', false);
  } catch (error) {
    if (isDeviceCloudError(error)) print('pushed', text, error.code, error.uncertain);
    else throw error;
  }
}

async function main(): Promise<void> {
  const store = new SharedStore();
  const options = { baseUrl, appid, appkey, proxy: false as const };
  const waiting = {
    calls: new SavedCalls(store),
    callOf: () => ({ name: '', args: [], options: {} }),
    onOrphan: () => undefined,
  };
  const sharing = { store, decoderOf: () => undefined, waiting };
  const client = await ClusterClient.join(options, { url, lease: Number(lease) }, sharing);
  for (const chipid of chipids) {
    const key = `position:listener:${chipid}`;
    client.listen(
      chipid,
      {
        onUpload: ({ body, replayed = false }) => print('upload', chipid, replayed, body),
        onState: (state) => print('state', chipid, state),
      },
      {
        get start() {
          return store.get(key) as Position | undefined;
        },
        saveLater: (position) => {
          if (!store.get(key)) print('begins', chipid);
          store.update(key, { toJSON: position });
        },
      },
    );
  }
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (data: string) => {
    const lines = `${rest}${data}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [chipid = '', text = ''] = line.split(' ');
      void push(client, chipid, text);
    }
  });
  process.once('SIGTERM', () => void client.close().then(() => process.exit()));
  print('ready');
}

void main();
