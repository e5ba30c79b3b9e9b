import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { clientOf, serving } from '../support/client';
import { failure } from '../support/failure';
import { json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { freePort } from '../../tooling/servers/ports';
import { wireService } from '../../tooling/servers/wire-service';

const GOOD = 'HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n{"status":"online","msg":"OK"}';

/** Ways in which a connection ends after the request, by name. */
const BREAKS: Record<string, (socket: Socket) => void> = {
  'closed before the answer': (socket) => void socket.end(),
  'reset before the answer': (socket) => void socket.resetAndDestroy(),
  'closed in the headers': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'closed in the body': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"msg":'),
  'closed in a chunked body': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"msg":\r\n'),
  'reset in the body': (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"msg":', () =>
      socket.resetAndDestroy(),
    ),
};

describe('a connection that ends after the request', () => {
  for (const [name, end] of Object.entries(BREAKS)) {
    it(`is CONNECTION_LOST if it is ${name}: a command goes out once, and the next works`, async () => {
      const service = await wireService((socket, count) => {
        if (count === 0) end(socket);
        else socket.write(GOOD);
      });
      const client = clientOf(service.baseUrl);
      const { message } = await failure(client.refresh(10000001), 'CONNECTION_LOST');
      assert.match(message, /device 10000001 .*acted is unknown/);
      assert.equal(service.requests(), 1);
      assert.deepEqual((await client.refresh(1)).body, { status: 'online', msg: 'OK' });
    });
  }
});

describe('a connection that cannot be established', () => {
  it('is UNREACHABLE if it is refused, with the address and the code of the reason', async () => {
    const port = await freePort();
    const client = clientOf(`http://127.0.0.1:${port}`);
    const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
    assert.match(
      message,
      /Not sent \(ECONNREFUSED\).* The service could not be reached\. Check the address/,
    );
  });

  it('is UNREACHABLE if the name is unknown', async () => {
    const client = clientOf('http://nowhere.invalid:8080', { timeout: 30_000 });
    const { message } = await failure(client.reboot(1), 'UNREACHABLE');
    assert.match(message, /\((ENOTFOUND|EAI_AGAIN)\)/);
  });

  it('is established once the service is back', async () => {
    const port = await freePort();
    const client = clientOf(`http://127.0.0.1:${port}`);
    for (let call = 0; call < 3; call++) await failure(client.push(1, 'x'), 'UNREACHABLE');
    await wireService((socket) => void socket.end(GOOD), undefined, { port });
    assert.deepEqual((await client.refresh(1)).body, { status: 'online', msg: 'OK' });
  });
});

describe('a kept-alive connection', () => {
  it('is used again', async () => {
    const { service, client } = await serving(json({ status: 'online', msg: 'OK' }));
    for (let call = 0; call < 9; call++) await client.push(1, 'x');
    // A call that follows at once may find the first one still busy.
    assert.ok(service.connections() <= 2);
  });

  it('that the service closed meanwhile is replaced without a failure', async () => {
    const service = await wireService((socket) => void socket.end(GOOD));
    const client = clientOf(service.baseUrl);
    for (let call = 0; call < 5; call++) {
      assert.equal((await client.refresh(1)).statusCode, 200);
      await until(() => service.sockets() === 0, 'the end of the connection');
    }
    assert.equal(service.connections(), 5);
  });

  it('that ends while a command is being sent is CONNECTION_LOST, and the command is sent once', async () => {
    const service = await wireService((socket, count) => {
      if (count === 1) socket.resetAndDestroy();
      else socket.write(GOOD);
    });
    const client = clientOf(service.baseUrl);
    await client.refresh(1);
    await failure(client.refresh(1), 'CONNECTION_LOST');
    assert.equal(service.requests(), 2);
    await client.refresh(1);
    assert.equal(service.requests(), 3);
  });
});
