import { LRUCache } from 'lru-cache';
import { type Hex, zeroHash } from 'viem';
import { z } from 'zod';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { answerRequest, type NodeAnswer, type NodeRequest } from './answer-request.ts';
import { INDEXED_TOPICS } from './indexed-topics.ts';

/** What Ponder needs of a header. */
export const PonderHeader = z.looseObject({
  hash: z.custom<Hex>((value) => typeof value === 'string'),
  number: z.custom<Hex>((value) => typeof value === 'string'),
  timestamp: z.custom<Hex>((value) => typeof value === 'string'),
  parentHash: z.string(),
  logsBloom: z.string(),
});

export type PonderHeader = z.infer<typeof PonderHeader>;

/** More than Ponder reads at a time. */
const REMEMBERED_HEADS = 64;
const NO_LOGS_BLOOM = `0x${'0'.repeat(512)}`;

const LogsOfBlock = z.tuple([z.object({ blockHash: z.string() })]);
const WholeBlock = z.tuple([z.string(), z.literal(true)]);
const Logs = z.array(z.looseObject({ topics: z.array(z.string()) }));

/**
 * The heads of a chain that were sent to Ponder. For each it asks at once for the block, with all transactions, and for all
 * logs. Where no log may be indexed, its header stands for the block, as one without logs and transactions: such a head costs
 * one call.
 */
export class NewBlocks {
  readonly #headers = new LRUCache<string, PonderHeader>({ max: REMEMBERED_HEADS });
  readonly #logs = new LRUCache<string, Promise<NodeAnswer>>({ max: REMEMBERED_HEADS });

  sent(header: PonderHeader): void {
    this.#headers.set(header.hash, header);
  }

  async answer(rpc: ChainRpc, request: NodeRequest): Promise<NodeAnswer> {
    const header = this.#headers.get(hashOf(request) ?? zeroHash);
    if (!header) return answerRequest(rpc, request);
    const answer = await this.#logsOf(rpc, header);
    const indexed = indexedLogs(answer, header);
    if (request.method === 'eth_getLogs') return indexed ? { result: indexed } : answer;
    if (indexed?.length !== 0) return answerRequest(rpc, request);
    return { result: { ...header, logsBloom: NO_LOGS_BLOOM, transactions: [] } };
  }

  /** Asks once for the logs of a block, and again while they are not known. */
  #logsOf(rpc: ChainRpc, header: PonderHeader): Promise<NodeAnswer> {
    const { hash } = header;
    const known = this.#logs.get(hash);
    if (known) return known;
    const asked = answerRequest(rpc, { id: null, method: 'eth_getLogs', params: [{ blockHash: hash }] });
    this.#logs.set(hash, asked);
    const forget = () => this.#logs.delete(hash);
    asked.then((answer) => indexedLogs(answer, header) ?? forget(), forget);
    return asked;
  }
}

/** Those logs of a block that may be indexed; undefined while its logs are not known. */
function indexedLogs(answer: NodeAnswer, { logsBloom }: PonderHeader): readonly unknown[] | undefined {
  const logs = 'result' in answer ? Logs.safeParse(answer.result).data : undefined;
  // A node that lags may answer with none. Ponder finds that out by the bloom filter, and asks again.
  if (!logs || (logs.length === 0 && logsBloom !== NO_LOGS_BLOOM)) return undefined;
  return logs.filter(({ topics: [topic] }) => topic !== undefined && INDEXED_TOPICS.has(topic));
}

/** Of the block whose logs, or which itself, is asked for. */
function hashOf({ method, params }: NodeRequest): string | undefined {
  if (method === 'eth_getLogs') return LogsOfBlock.safeParse(params).data?.[0].blockHash;
  if (method === 'eth_getBlockByHash') return WholeBlock.safeParse(params).data?.[0];
  return undefined;
}
