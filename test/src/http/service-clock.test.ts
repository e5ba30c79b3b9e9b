import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceClock } from '../../../src/http/answer';
import { USER_AGENT } from '../../../src/protocol/signing';
import { repository } from '../../tooling/repository';
import { clientOf, simulator } from '../support/client';

describe("the service's clock", () => {
  it('is compared with this one by the header Date, in whole seconds', () => {
    // Half a second past: the header has cut off something between nothing and a second.
    let now = Date.parse('2026-01-01T00:00:00.500Z');
    const clock = new ServiceClock(() => now);
    assert.equal(clock.skew(), undefined);
    clock.saw('Thu, 01 Jan 2026 02:00:00 GMT');
    assert.equal(clock.skew(), 7_200_000);
    now += 60_000;
    assert.equal(clock.skew(), 7_200_000, 'as it was when the answer came');
    clock.saw('Wed, 31 Dec 2025 23:59:00 GMT');
    assert.equal(clock.skew(), -120_000);
    clock.saw('nonsense');
    assert.equal(clock.skew(), undefined);
  });

  it('is known to a client after its first answer', async () => {
    const service = await simulator({ now: () => Date.now() + 3_600_000 });
    const client = clientOf(service.baseUrl);
    assert.ok(client.clockSkew === undefined);
    await client.devices();
    const skew = Number(client.clockSkew);
    assert.ok(Math.abs(skew - 3_600_000) <= 5000, String(skew));
  });
});

describe('the User-Agent', () => {
  it("is the package's name and version, without robot in it", () => {
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      version: string;
    };
    assert.equal(USER_AGENT, `node-red-device-cloud/${version}`);
    assert.doesNotMatch(USER_AGENT, /robot/i);
  });
});
