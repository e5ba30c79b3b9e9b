import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Database } from 'node-sqlite3-wasm';
import { ONE, THREE, TWO } from '../harness/fixture';
import { until } from '../../../tooling/until';
import { playsOnBoth } from './scene';
import type { Scene } from './scene';
import type { Stage } from './stage';

const DATABASE = '16 Store new uploads in a database';
/** Would end a statement that was put together from text. */
const HOSTILE = `'); DROP TABLE uploads; --`;

interface Row {
  chipid: string;
  id: number;
  body: string;
}

function rowsOf(file: string): Row[] {
  const database = new Database(file, { fileMustExist: true, readOnly: true });
  try {
    const rows = database.all('SELECT chipid, id, body FROM uploads ORDER BY chipid, id');
    return rows as unknown as Row[];
  } finally {
    database.close();
  }
}

/** Presses a button and waits until its last record has been through the database. */
async function insert(scene: Scene, button: string, count: number): Promise<void> {
  await scene.press(button);
  await scene.waitStatus('Count the inserts', String(count));
}

const ROW = /^(\d+),(\d{13}),([-\d]{10} [:\d]{8}),(.*)$/;

/** Examples that keep what was uploaded. */
export function filesAndDatabases(stage: Stage): void {
  playsOnBoth(
    stage,
    '15 Save the history as CSV',
    'writes a line for each upload, and the same file when pressed again',
    async (scene) => {
      const { simulator } = scene;
      const file = join(stage.folder, 'device-cloud-uploads.csv');
      const first = simulator.upload(ONE, { temperature: 21.5, humidity: 60 });
      simulator.upload(ONE, 'no reading');
      simulator.upload(ONE, { temperature: '21,5 "or so"' });
      const zone = scene.isPublic ? 0 : 8 * 3_600_000;
      const time = new Date(first.at + zone).toISOString().slice(0, 19).replace('T', ' ');
      // The zone of the public server is not known before an upload has come both ways.
      const timestamp = String(Date.parse(`${time}+08:00`));
      // The public server loses what stands before a comma, and so the readings.
      const expected = scene.isPublic
        ? ['"""humidity"":60}"', 'no reading', '"5 \\""or so\\""""}"']
        : [
            '"{""temperature"":21.5,""humidity"":60}"',
            'no reading',
            '"{""temperature"":""21,5 \\""or so\\""""}"',
          ];
      for (const press of [1, 2]) {
        await scene.press('Write file');
        await scene.waitShown('The file', press);
        const [head, ...lines] = readFileSync(file, 'utf8').split('\r\n');
        assert.equal(head, 'chipid,timestamp,time,payload');
        assert.equal(lines.pop(), '');
        const rows = lines.map((line) => {
          const [, chipid, timestamp, made, payload] = ROW.exec(line) ?? [];
          return { chipid, timestamp, made, payload };
        });
        // The public server has the newest first, and no order within a second.
        const payloads = rows.map(({ payload }) => payload);
        assert.deepEqual(
          scene.isPublic ? payloads.sort() : payloads,
          scene.isPublic ? [...expected].sort() : expected,
        );
        assert.deepEqual(
          rows.find(({ payload }) => payload === expected[0]),
          { chipid: ONE, timestamp, made: time, payload: expected[0] },
        );
      }
    },
  );

  playsOnBoth(
    stage,
    DATABASE,
    'stores each upload once, however often it is read',
    async (scene) => {
      const { simulator } = scene;
      const file = join(stage.folder, 'device-cloud-uploads.sqlite');
      await rm(file, { force: true });
      await scene.again();
      simulator.upload(ONE, { temperature: 21.5 });
      simulator.upload(TWO, HOSTILE);
      simulator.upload(THREE, 'three');
      const expected = [
        { chipid: ONE, id: 1, body: '{"temperature":21.5}' },
        { chipid: TWO, id: 2, body: HOSTILE },
        { chipid: THREE, id: 3, body: 'three' },
      ];
      await insert(scene, 'Store the new ones', 3);
      assert.deepEqual(rowsOf(file), expected);

      // New ones only; then all of them again, and again after a restart.
      const fourth = { chipid: ONE, id: 4, body: 'four' };
      simulator.upload(ONE, fourth.body);
      expected.splice(1, 0, fourth);
      await insert(scene, 'Store the new ones', 4);
      assert.deepEqual(rowsOf(file), expected);
      await insert(scene, 'Read everything again', 8);
      assert.deepEqual(rowsOf(file), expected);
      await scene.again();
      await insert(scene, 'Read everything again', 4);
      assert.deepEqual(rowsOf(file), expected);

      await scene.press('Show what is stored');
      const [counts] = (await scene.waitShown('The counts')) as Record<string, unknown>[][];
      assert.deepEqual(
        counts?.map(({ chipid, uploads }) => [chipid, uploads]),
        [
          [ONE, 2],
          [TWO, 1],
          [THREE, 1],
        ],
      );
      await until(() => existsSync(file), 'the database is there');
    },
    // A reading that begins by itself would be broken off by what the test deploys.
    {
      alter: (nodes) =>
        nodes.map((node) => (node.type === 'inject' ? { ...node, once: false, repeat: '' } : node)),
    },
  );
}
