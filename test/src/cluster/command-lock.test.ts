import assert from 'node:assert/strict';
import { DeviceLocks } from '../../../src/cluster/command-lock';
import { StoreError, type LockOutcome } from '../../../src/cluster/store';
import { DeviceCloudError, isDeviceCloudError } from '../../../src/errors';
import { settled } from '../../../tooling/until';
import { Process, VirtualTime } from './virtual-time';

describe('the lock around a command', () => {
  let time: VirtualTime;
  let answers: (LockOutcome | StoreError)[];
  let calls: string[];
  let lock: DeviceLocks;

  beforeEach(() => {
    time = new VirtualTime();
    answers = [];
    calls = [];
    const store = {
      lock(key: string, token: string, _ms: number, again = false): Promise<LockOutcome> {
        calls.push(`${again ? 'again' : 'lock'} ${key} ${token}`);
        const answer = answers.shift() ?? 'busy';
        return answer instanceof StoreError ? Promise.reject(answer) : Promise.resolve(answer);
      },
      unlock(key: string, token: string): Promise<void> {
        calls.push(`unlock ${key} ${token}`);
        return Promise.resolve();
      },
    };
    const { clock } = new Process(time, 1);
    const track = (): void => undefined;
    lock = new DeviceLocks({ store, clock, member: 'm', random: () => 0.5, track });
  });

  const send = (): Promise<string> =>
    lock.run('7', 1000, () => {
      calls.push('send');
      return Promise.resolve('sent');
    });

  it('waits for the command of another process, and is released after this one', async () => {
    answers = ['busy', 'unsettled', 'locked'];
    const sent = send();
    await settled();
    await time.runTo(400);
    assert.equal(await sent, 'sent');
    assert.deepEqual(calls, ['lock 7 m:1', 'lock 7 m:1', 'lock 7 m:1', 'send', 'unlock 7 m:1']);
  });

  it('is released after a command that fails, and passes its error on', async () => {
    answers = ['locked'];
    const error = new DeviceCloudError('TIMEOUT', 'no answer');
    await assert.rejects(
      lock.run('7', 1000, () => Promise.reject(error)),
      error,
    );
    assert.equal(calls.at(-1), 'unlock 7 m:1');
  });

  it('prevents the command if it cannot be acquired, and is released if its state is unknown', async () => {
    const failed = async (sent: Promise<string>): Promise<void> =>
      assert.rejects(sent, (error) => isDeviceCloudError(error, 'UNREACHABLE') && !error.uncertain);
    answers = [new StoreError('No answer.', true)];
    await failed(send());
    assert.deepEqual(calls, ['lock 7 m:1', 'unlock 7 m:1']);
    calls = [];
    const sent = failed(send());
    await settled();
    await time.runTo(70_000);
    await sent;
    assert.ok(!calls.includes('send') && !calls.some((call) => call.startsWith('unlock')));
  });

  it('is restored while its command runs', async () => {
    answers = ['locked'];
    await lock.run('7', 1000, () => {
      lock.restore();
      calls.push('sent');
      return Promise.resolve();
    });
    lock.restore();
    assert.deepEqual(calls, ['lock 7 m:1', 'again 7 m:1', 'sent', 'unlock 7 m:1']);
  });
});
