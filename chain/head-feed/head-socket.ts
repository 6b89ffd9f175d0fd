import { z } from 'zod';
import { readJson } from '../../runtime/json.ts';
import { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import { BlockAnswer } from '../node-answers.ts';
import type { BlockHeader } from '../read-context.ts';
import type { RpcFailureCode } from '../rpc-failure.ts';

/** A head as a node pushed it. */
export interface PushedHead {
  readonly block: BlockHeader;
  /** All of the header, unchecked. */
  readonly header: Readonly<Record<string, unknown>>;
}

export interface HeadSocketOptions {
  readonly url: string;
  readonly chainId: number;
  readonly onHead: (head: PushedHead) => void;
  /** Called for each connection that ends: the next one may be to another node. */
  readonly onEnd?: () => void;
  /** Called for each request that was sent. */
  readonly count: (method: string, outcome: string) => void;
  readonly logger: Logger;
}

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
/** In the order in which they are sent, each after the answer to the one before; ids count from 1. */
const REQUESTS = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_subscribe', params: ['newHeads'] },
] as const;

const Answer = z.object({ id: z.number(), result: z.string() });
const Header = z.record(z.string(), z.unknown());
const Push = z.object({ method: z.literal('eth_subscription'), params: z.object({ result: Header }) });

/**
 * Subscribes to the heads of a node by WebSocket, and again after each end of the connection. It leaves a node of
 * another chain, or one that pushes what is not a head, and dials it again.
 */
export function openHeadSocket({ url, chainId, onHead, onEnd, count, logger }: HeadSocketOptions): LiveSocket {
  let sent = 0;
  const settle = (outcome: 'ok' | RpcFailureCode) => {
    const request = REQUESTS[sent - 1];
    if (request) count(request.method, outcome);
  };
  const sendNext = () => {
    const request = REQUESTS[sent];
    sent += 1;
    if (request) socket.send(JSON.stringify({ jsonrpc: '2.0', id: sent, ...request }));
  };
  const leave = (reason: RpcFailureCode) => {
    settle(reason);
    sent = 0;
    socket.reconnect(reason);
  };
  const takeAnswer = (message: unknown) => {
    const answer = Answer.safeParse(message);
    const request = REQUESTS[sent - 1];
    if (!request) return leave('malformed');
    if (!answer.success || answer.data.id !== sent) return leave('refused');
    if (request.method === 'eth_chainId' && Number(answer.data.result) !== chainId) return leave('wrong_chain');
    settle('ok');
    sendNext();
  };
  const socket = new LiveSocket({
    url,
    minPauseMs: MIN_PAUSE_MS,
    maxPauseMs: MAX_PAUSE_MS,
    logger,
    onOpen: sendNext,
    onMessage: (data) => {
      const message = readJson(data.toString());
      const push = Push.safeParse(message);
      if (!push.success) return takeAnswer(message);
      const header = push.data.params.result;
      const block = BlockAnswer.safeParse(header);
      return block.success ? onHead({ block: block.data, header }) : leave('malformed');
    },
    onEnd: () => {
      settle('unreachable');
      sent = 0;
      onEnd?.();
    },
  });
  return socket;
}
