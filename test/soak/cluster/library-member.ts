import { DeviceCloudClient, joinCluster } from '../../../src';
import { appendTo } from '../lines';
import { recorded } from './recorded';

/*
 * One process of a cluster without Node-RED, for `--library`: it shows whether something is the library's or the nodes'.
 */

/** What the process is started with. */
export interface LibrarySettings {
  baseUrl: string;
  appid: string;
  appkey: string;
  url: string;
  lease: number;
  chipids: string[];
  records: string;
}

async function main(): Promise<void> {
  const settings = JSON.parse(process.argv[2] ?? '{}') as LibrarySettings;
  const { baseUrl, appid, appkey, url, lease, chipids, records } = settings;
  const append = appendTo(records);
  const cluster = await joinCluster({
    url,
    lease: lease * 1000,
    application: `${baseUrl} ${appid}`,
  });
  const client = new DeviceCloudClient({ baseUrl, appid, appkey, cluster });
  for (const chipid of chipids) {
    const onUpload = ({ body, replayed }: { body: Buffer; replayed?: true }): void =>
      append(recorded({ chipid, payload: body.toString(), replayed: replayed ?? false }));
    client.listen(chipid, { onUpload }, {});
  }
  process.once('SIGTERM', () => {
    void client.close();
    void cluster.close().then(() => process.exit());
  });
  console.log('Started flows');
}

void main();
