import assert from 'node:assert/strict';
import { httpService, json } from '../../tooling/servers/http-service';
import { clientOf, serving } from '../support/client';
import { failure } from '../support/failure';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** 2026-03-10 00:00 in Beijing. */
const TENTH = Date.UTC(2026, 2, 9, 16);

interface Row {
  id: number;
  body: string;
  create_time: string;
}

/** `YYYY-MM-DD HH:MM:SS` */
const printed = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** A service that includes the end day; its times and days are those of a zone. */
async function inclusive(hours: number, times: readonly number[]) {
  const rows = times.map((at, id): Row => {
    return { id, body: String(id), create_time: printed(at + hours * HOUR) };
  });
  return httpService((response, request, count) => {
    const [, begin = '', end = ''] = /sync\/(\d+)\/(\d+)\//.exec(request.path) ?? [];
    const dayOf = ({ create_time }: Row): string => create_time.slice(0, 10).replaceAll('-', '');
    const found = rows.filter((row) => dayOf(row) >= begin && dayOf(row) <= end);
    json(found)(response, request, count);
  });
}

/** A service as the public server was: from one midnight in Beijing to the other, newest first, with times of UTC. */
async function exclusive(times: readonly number[]) {
  const midnight = (day: string): number =>
    Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)), -8);
  const rows = times.map((at, id) => ({ id, body: String(id), create_time: printed(at), at }));
  return httpService((response, request, count) => {
    const [, begin = '', end = ''] = /sync\/(\d+)\/(\d+)\//.exec(request.path) ?? [];
    const found = rows.filter(({ at }) => at >= midnight(begin) && at < midnight(end));
    json(found.toReversed())(response, request, count);
  });
}

describe('the synchronisation between two days', () => {
  it('includes the end day of a service that does not, in its order', async () => {
    const ats = [-1, 0, 12 * HOUR, DAY - 1000, DAY, 2 * DAY - 1000, 2 * DAY];
    const service = await exclusive(ats.map((ms) => TENTH + ms));
    const client = clientOf(service.baseUrl);
    const bodies = async (begin: string, end: string): Promise<string[]> =>
      (await client.appHistory(begin, end)).body.map(({ body }) => body);
    assert.deepEqual(await bodies('20260310', '20260310'), ['3', '2', '1']);
    assert.deepEqual(await bodies('20260310', '20260311'), ['5', '4', '3', '2', '1']);
    assert.deepEqual(await bodies('20260309', '20260309'), ['0']);
    assert.deepEqual(await bodies('20260313', '20260314'), []);
  });

  for (const hours of [8, 0, -5]) {
    it(`doubles nothing of a service that does, at ${hours} h from UTC, and remembers that`, async () => {
      const start = Date.UTC(2026, 2, 10) - hours * HOUR;
      const times = [-1000, 0, DAY - 1000, DAY, 2 * DAY - 1000, 2 * DAY];
      const service = await inclusive(
        hours,
        times.map((ms) => start + ms),
      );
      const client = clientOf(service.baseUrl);
      const ids = async (begin: string, end: string): Promise<number[]> =>
        (await client.appHistory(begin, end)).body.map(({ id }) => Number(id));
      assert.deepEqual(await ids('20260310', '20260310'), [1, 2]);
      const { length } = service.requests;
      assert.deepEqual(await ids('20260310', '20260311'), [1, 2, 3, 4]);
      assert.deepEqual(await ids('20260309', '20260309'), [0]);
      assert.equal(service.requests.length, length + 2);
    });
  }

  it('adds nothing of the next day if the end day has no upload', async () => {
    const service = await inclusive(8, [TENTH, TENTH + 2 * DAY + HOUR]);
    const client = clientOf(service.baseUrl);
    assert.deepEqual((await client.appHistory('20260311', '20260311')).body, []);
  });

  it('adds nothing of the next day by the zone that is set', async () => {
    // 20:00 in UTC is the next day in Beijing.
    const times = ['2026-03-10 20:00:00'].map((create_time) => ({ id: 1, body: 'x', create_time }));
    const service = await httpService((response, request, count) => {
      const last = request.path.endsWith('/20260311/');
      json(last ? times : [])(response, request, count);
    });
    const utc = clientOf(service.baseUrl, { historyZone: '+00:00' });
    assert.deepEqual((await utc.appHistory('20260310', '20260310')).body, []);
  });

  for (const historyZone of ['auto', '-12:00', '-05:00', '+00:00', '+05:45', '+14:00'])
    it(`leaves out none of a service that does not, although its times are in UTC and the zone is ${historyZone}`, async () => {
      const hours = Array.from({ length: 48 }, (_, hour) => hour);
      const service = await exclusive(hours.map((hour) => TENTH + hour * HOUR));
      const client = clientOf(service.baseUrl, { historyZone });
      const bodies = async (day: string): Promise<number[]> =>
        (await client.appHistory(day, day)).body.map(({ body }) => Number(body)).reverse();
      assert.deepEqual(await bodies('20260310'), hours.slice(0, 24));
      assert.deepEqual(await bodies('20260311'), hours.slice(24));
    });

  it('does without the day after where a service refuses it', async () => {
    const { client } = await serving((response, request, count) => {
      const isKnown = request.path.endsWith('/20260310/20260310/');
      json(isKnown ? [{ id: 1 }] : { msg: 'bad date' }, isKnown ? 200 : 400)(
        response,
        request,
        count,
      );
    });
    assert.equal((await client.appHistory('20260310', '20260310')).body.length, 1);
  });

  it('fails if either request does, within one time limit', async () => {
    const service = await httpService(json({ msg: 'no' }, 401));
    await failure(clientOf(service.baseUrl).appHistory('20260310', '20260310'), 'UNAUTHORIZED');
    assert.equal(service.requests.length, 1);
  });
});
