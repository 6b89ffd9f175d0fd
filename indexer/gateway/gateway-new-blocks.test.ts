import { pad } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import { INDEXED_TOPICS } from './indexed-topics.ts';
import { blockOf, failed, muteRedials, ok, openPonder, startNode } from './ponder-client.fixture.ts';

beforeAll(muteRedials);

const [topic] = [...INDEXED_TOPICS];
const hash = pad('0x7');
const logOf = (topics: readonly (string | undefined)[]) => ({ topics, blockHash: hash, blockNumber: '0x7' });

test.each([
  ['without logs', [], '0x0', 0],
  ['with logs of others', [logOf([pad('0xbeef')]), logOf([])], '0x1', 0],
  ['with a log that is indexed', [logOf([pad('0xbeef')]), logOf([topic])], '0x1', 1],
] as const)('of a new block %s, the logs are read once, and the block where it may matter', async (...of) => {
  const [, logs, bloom, blocks] = of;
  const block = { ...blockOf(7), logsBloom: pad(bloom, { size: 256 }) };
  const whole = { ...block, transactions: [{ hash: pad('0x9') }] };
  const url = await startNode(({ method, params }) => {
    if (method === 'eth_getLogs') return ok(logs);
    return ok(params?.[0] === 'latest' ? block : whole);
  });
  const { rpc, counted } = await openPonder([url]);
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  counted.length = 0;
  const [answer, found] = await Promise.all([
    rpc.request({ method: 'eth_getBlockByHash', params: [hash, true] }),
    rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] }),
  ]);
  expect(answer).toEqual(blocks > 0 ? whole : { ...block, logsBloom: pad('0x0', { size: 256 }) });
  expect(found).toEqual(logs.filter(({ topics: [first] }) => first === topic));
  expect(counted.filter((method) => method === 'eth_getLogs')).toHaveLength(1);
  expect(counted.filter((method) => method === 'eth_getBlockByHash')).toHaveLength(blocks);
});

test('of a new block whose logs its node lacks, they are read again, and so is the block', async () => {
  const block = { ...blockOf(7), logsBloom: pad('0x1', { size: 256 }) };
  const url = await startNode(({ method }) => ok(method === 'eth_getLogs' ? [] : block));
  const { rpc, counted } = await openPonder([url]);
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  counted.length = 0;
  expect(await rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] })).toEqual([]);
  expect(await rpc.request({ method: 'eth_getBlockByHash', params: [hash, true] })).toEqual(block);
  const read = counted.filter((method) => method !== 'eth_getBlockByNumber');
  expect(read).toEqual(['eth_getLogs', 'eth_getLogs', 'eth_getBlockByHash']);
});

test('a head that was passed is not sent again where a node lags, so that nothing is undone', async () => {
  const heads = [6, 7, 6];
  const url = await startNode(() => ok(blockOf(heads.shift() ?? 8)));
  const { rpc } = await openPonder([url]);
  const sent: string[] = [];
  await new Promise<void>((resolve, reject) => {
    const onBlock = ({ number }: { readonly number: string }) => {
      sent.push(number);
      if (number === '0x8') resolve();
    };
    rpc.subscribe({ onBlock, onError: reject });
  });
  expect(sent).toEqual(['0x6', '0x7', '0x8']);
});

test('calls at the newest state see the newest head, also where a node lags', async () => {
  const nodeAt = (head: number) =>
    startNode(({ method, params: [call, block] = [] }) => {
      if (method === 'eth_getBlockByNumber') return ok(blockOf(head));
      if (block !== 'latest' && Number(block) > head) return failed({ code: -32_000, message: 'header not found' });
      return ok(head < 7 ? '0x' : [call, block]);
    });
  const { rpc } = await openPonder([await nodeAt(7), await nodeAt(6)]);
  const call = { method: 'eth_call', params: [{ data: '0x1' }, 'latest'] };
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => rpc.request(call)));
  expect(answers).toEqual(answers.map(() => [{ data: '0x1' }, '0x7']));
});

test.each([
  ['block', { blockHash: pad('0x8') }],
  ['number', { blockNumber: '0x8' }],
])('of a new block, logs of another %s are not taken, and not kept', async (_, moved) => {
  let isMoving = true;
  const logs = [logOf([topic])];
  const url = await startNode(({ method }) =>
    ok(method !== 'eth_getLogs' ? blockOf(7) : logs.map((log) => (isMoving ? { ...log, ...moved } : log))),
  );
  const { rpc, logged } = await openPonder([url]);
  await new Promise((resolve) => {
    rpc.subscribe({ onBlock: resolve, onError: resolve });
  });
  const given = rpc.request({ method: 'eth_getLogs', params: [{ blockHash: hash }] });
  await vi.waitUntil(() => logged().some(({ msg }) => msg === 'Received JSON-RPC error'));
  isMoving = false;
  expect(await given).toEqual(logs);
});
