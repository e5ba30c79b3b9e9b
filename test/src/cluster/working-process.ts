import { joinCluster } from '../../../src';

/** Works on the queue, printing what it is given, and dies of the upload `poison`. Arguments: address, attempts. */
const [, , url = '', attempts] = process.argv;

async function work(): Promise<void> {
  const member = await joinCluster({ url, application: '1', lease: 2000 });
  member.work({
    ...{ attempts: Number(attempts), redeliver: 1000 },
    deliver({ chipid, token, upload, redelivered }) {
      const text = upload.body.toString();
      process.stdout.write(`${JSON.stringify({ chipid, text, redelivered })}\n`);
      if (text === 'poison') process.kill(process.pid, 'SIGKILL');
      setTimeout(() => void member.acknowledge(token).catch(() => undefined), 20);
    },
  });
  process.once('disconnect', () => void member.close().then(() => process.exit()));
}

void work();
