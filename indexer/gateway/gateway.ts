import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { ChainRpc, openChainRpc } from '../../chain/chain-rpc.ts';
import { type HeadFeed, openHeadFeed } from '../../chain/head-feed/head-feed.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { FaultyLogs } from '../../db/log-faults.ts';
import type { CountChainCall } from '../../runtime/chain-calls.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { answerRequest, BLOCK_METHODS, type NodeAnswer, type NodeQuestion, NodeRequest } from './answer-request.ts';
import type { LogFault } from './compare-logs.ts';
import { followHeads, type HeadTaker } from './follow-heads.ts';
import { lanesOf, type NodePreference, nodesInOrder } from './lanes.ts';
import { type Comparison, LogsOfTwo, type LogsOfTwoDeps } from './logs-of-two.ts';
import { NewBlocks, PonderHeader } from './new-blocks.ts';
import { orderLogs } from './order-logs.ts';
import { pollingIntervalMs } from './polling-interval.ts';

/** Below ten seconds, after which Ponder abandons a request and sends fewer of them. */
const NODE_TIMEOUT_MS = 9_000;
const SUBSCRIPTION = '0x1';

interface ChainNodes {
  readonly chain: ChainConfig;
  readonly feed: HeadFeed | undefined;
  readonly blocks: NewBlocks;
  readonly logsOfTwo: LogsOfTwo;
  /** One for each URL that Ponder gets. */
  readonly lanes: readonly ChainRpc[];
}

export interface GatewayDeps {
  readonly countCall: CountChainCall;
  /** Counts logs that a node did not give, or should not have. */
  readonly countLogs: (chainId: number, fault: LogFault, logs: number) => void;
  readonly countComparison: (chainId: number, result: Comparison) => void;
  /** Takes note of a node that left logs out, or invented some. */
  readonly blame: (faulty: FaultyLogs) => void;
  /** Nodes that are asked after others, by chain id: places in the chains file. */
  readonly askLast?: ReadonlyMap<number, readonly string[]>;
  /** Of a repair after the first one, by chain id: all requests go to one node first, another one at each turn. */
  readonly turns?: ReadonlyMap<number, number>;
  readonly logger: Logger;
  /** Longest wait for the response of one node. */
  readonly timeoutMs?: number;
  readonly now?: Clock;
  /** 0 to 1, at random. */
  readonly random?: () => number;
}

export interface Gateway {
  /** Contains a random part, so that no other process of this machine can use the nodes. */
  readonly url: string;
  /** Logs that the nodes of each chain have given, by chain id. */
  readonly logCounts: ReadonlyMap<number, number>;
  readonly close: () => void;
}

/**
 * Opens WebSockets on this machine, at `<URL>/<chain id>/<lane>`, which Ponder takes for the nodes of its chains.
 * Behind them are the nodes of the chains file, with our failover, timeouts and breakers, and heads pushed or polled.
 */
export async function openGateway(chains: readonly ChainConfig[], deps: GatewayDeps): Promise<Gateway> {
  const { countCall, logger, timeoutMs = NODE_TIMEOUT_MS, now = () => performance.now(), random = Math.random } = deps;
  const nodesOf = new Map(
    chains.map((chain) => {
      const { chainId } = chain;
      const nodes = openChainRpc(chain, timeoutMs, countCall);
      const { endpoints } = nodes;
      const askLast = deps.askLast?.get(chainId) ?? [];
      const last = new Set(endpoints.flatMap((_, node) => (askLast.includes(placeOf(node)) ? [node] : [])));
      const lanes = openLanes(chain, endpoints, { last, turn: deps.turns?.get(chainId) });
      const feed = openHeadFeed(chain, { rpc: nodes, countCall, logger, now, wallClock: Date.now });
      const count = (fault: LogFault, logs: number) => deps.countLogs(chainId, fault, logs);
      const blame: LogsOfTwoDeps['blame'] = (node, logs) =>
        deps.blame({ chainId, node: placeOf(endpoints.indexOf(node)), ...logs });
      const countComparison = (result: Comparison) => deps.countComparison(chainId, result);
      const logsOfTwo = new LogsOfTwo({
        count,
        countComparison,
        blame,
        logger: logger.child({ chainId }),
        now,
        random,
      });
      return [String(chainId), { chain, feed, blocks: new NewBlocks(), logsOfTwo, lanes }] as const;
    }),
  );
  const logCounts = new Map(chains.map(({ chainId }) => [chainId, 0]));
  const countGiven = (chainId: number, logs: number) => logCounts.set(chainId, (logCounts.get(chainId) ?? 0) + logs);
  const path = `/${randomUUID()}`;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(server, 'listening');
  server.on('connection', (socket, { url = '' }) => {
    const [chainId = '', lane = ''] = url.startsWith(`${path}/`) ? url.slice(path.length + 1).split('/') : [];
    const nodes = nodesOf.get(chainId);
    const rpc = nodes?.lanes[Number(lane)];
    if (nodes && rpc) serve(socket, { ...nodes, rpc }, countGiven, logger.child({ chainId: Number(chainId) }));
    else socket.terminate();
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    logCounts,
    close: () => {
      for (const { feed } of nodesOf.values()) feed?.close();
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

/** How a node is named: its host may be secret. */
const placeOf = (node: number): string => `rpcUrls[${node}]`;

/** The nodes of a chain, for each lane in the order in which it tries them. All lanes share the nodes' breakers. */
function openLanes(
  chain: ChainConfig,
  endpoints: readonly RpcEndpoint[],
  preference: NodePreference,
): readonly ChainRpc[] {
  return lanesOf(chain.rpcUrls).map((first) => {
    const order = nodesInOrder(first, endpoints.length, preference);
    return new ChainRpc(order.flatMap((node) => endpoints[node] ?? []));
  });
}

function serve(
  socket: WebSocket,
  { chain, feed, blocks, logsOfTwo, rpc }: Omit<ChainNodes, 'lanes'> & { readonly rpc: ChainRpc },
  countLogs: (chainId: number, logs: number) => void,
  logger: Logger,
): void {
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const push = (result: PonderHeader) => {
    if (blocks.isPassed(result)) return;
    blocks.sent(result);
    send({ method: 'eth_subscription', params: { subscription: SUBSCRIPTION, result } });
  };
  const ask = async (question: NodeQuestion): Promise<NodeAnswer> => {
    if (question.method === 'eth_getLogs')
      return orderLogs(await logsOfTwo.answer(rpc, question, answerRequest.bind(null, rpc)));
    const answered = await answerRequest(rpc, blocks.atNewestHead(question));
    if (BLOCK_METHODS.includes(question.method) && 'result' in answered)
      await logsOfTwo.takeBlock(rpc, answered.result);
    return answered;
  };
  const answer = async (question: NodeQuestion) => {
    if (question.method !== 'eth_subscribe') {
      const answered = await blocks.answer(ask, question);
      if (question.method === 'eth_getLogs' && 'result' in answered && Array.isArray(answered.result)) {
        countLogs(chain.chainId, answered.result.length);
      }
      return answered;
    }
    const retryMs = pollingIntervalMs(chain.blockTimeMs);
    socket.once('close', () => blocks.ended());
    socket.once('close', followHeads(takerOf(rpc, push, logger), { blockTimeMs: chain.blockTimeMs, retryMs }, feed));
    return { result: SUBSCRIPTION };
  };
  socket.on('message', (data) => {
    const { id, ...question } = NodeRequest.parse(JSON.parse(String(data)));
    if (id !== null) {
      answer(question).then(
        (answered) => send({ id, ...answered }),
        (error: unknown) => logger.error({ err: error }, 'no answer to Ponder'),
      );
    }
  });
}

function takerOf(rpc: ChainRpc, push: (header: PonderHeader) => void, logger: Logger): HeadTaker<PonderHeader> {
  return {
    poll: () => rpc.request('eth_getBlockByNumber', ['latest', false], (block) => PonderHeader.parse(block)),
    onBlock: push,
    onHeader: (header) => push(PonderHeader.parse(header)),
    onError: (error) => logger.warn({ err: error }, 'no head'),
  };
}
