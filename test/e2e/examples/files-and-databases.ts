import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readUploads } from '../../../flow-test/load';
import { ONE } from '../harness/fixture';
import { playsOnBoth } from './scene';
import type { Stage } from './stage';

/** The example that writes what was uploaded into a file. */
export function filesAndDatabases(stage: Stage): void {
  playsOnBoth(
    stage,
    'Save the history as CSV',
    'writes a line for each upload, the same file when pressed again, which tests of flows can play',
    async (scene) => {
      const { simulator } = scene;
      const file = join(stage.folder, 'device-cloud-uploads.csv');
      const bodies = ['{"temperature":21.5}', 'no reading', '"so" it is'];
      // The zone of the public server, UTC, is not known before an upload has come both ways.
      const off = scene.isPublic ? 8 * 3_600_000 : 0;
      const times = bodies.map((body) => {
        const { at } = simulator.upload(ONE, body);
        return Math.floor(at / 1000) * 1000 - off;
      });
      for (const press of [1, 2]) {
        await scene.press('Write file');
        await scene.waitShown('The file', press);
        const [head, ...lines] = readFileSync(file, 'utf8').split('\r\n');
        assert.equal(head, 'chipid,timestamp,time,payload');
        assert.equal(lines.pop(), '');
        const starts = times.map((at) => `${ONE},${at},${new Date(at).toISOString()},`);
        assert.deepEqual(
          lines.map((line) => line.split(',').slice(0, 3).join() + ','),
          starts,
        );
        const rows = readUploads(file);
        assert.deepEqual(
          rows.map(({ chipid }) => chipid),
          [ONE, ONE, ONE],
        );
        // The public server has no order within a second.
        assert.deepEqual(rows.map(({ payload }) => payload).sort(), [...bodies].sort());
      }
    },
  );
}
