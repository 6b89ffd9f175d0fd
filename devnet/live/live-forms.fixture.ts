import { once } from 'node:events';
import type { Hex } from 'viem';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { sendRequest } from '../../runtime/http-request.ts';
import { parseJson, stringifyJson } from '../../runtime/json.ts';
import type { AccountWords } from './pending-updates.ts';
import type { StateDiff } from './registry.ts';

/** A form as a client reads it: the block being built, and the words of each venue. */
export interface DecodedFrame {
  readonly blockNumber: number;
  readonly venues: ReadonlyMap<string, AccountWords>;
}

const hex = z.custom<Hex>((value) => typeof value === 'string' && value.startsWith('0x'));
const words = z.record(hex, z.record(hex, hex));
const BuilderFrame = z
  .object({ slot: z.int(), blockNumber: z.int(), timestamp: z.bigint() })
  .catchall(z.object({ stateOverride: z.record(hex, z.object({ stateDiff: z.record(hex, hex) })) }));
const Snapshot = z.object({
  blockNumber: z.int(),
  millisTimestamp: z.int(),
  overrides: words,
  venues: z.array(z.object({ router: hex, overrides: words })),
});

export function decodeBuilderFrame(value: unknown): DecodedFrame & { readonly slot: number } {
  const { slot, blockNumber, timestamp: _, ...venues } = BuilderFrame.parse(value);
  const decoded = Object.entries(venues).map(([venue, { stateOverride }]) => {
    const accounts = Object.entries(stateOverride).map(([account, { stateDiff }]) => [account, stateDiff]);
    return [venue, Object.fromEntries(accounts) as AccountWords] as const;
  });
  return { slot, blockNumber, venues: new Map(decoded) };
}

export function decodeSnapshot(value: unknown): DecodedFrame & { readonly overrides: AccountWords } {
  const { blockNumber, overrides, venues } = Snapshot.parse(value);
  return { blockNumber, overrides, venues: new Map(venues.map((venue) => [venue.router, venue.overrides])) };
}

/** Words of all venues, account by account and word by word. */
export function mergedWords({ venues }: DecodedFrame): AccountWords {
  const all: Record<string, StateDiff> = {};
  for (const accounts of venues.values()) {
    for (const [account, diff] of Object.entries(accounts)) all[account] = { ...all[account], ...diff };
  }
  return all;
}

const Response = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });

/** The result of a JSON-RPC request over HTTP, or the message of its error. */
export async function requestForm(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const body = stringifyJson({ jsonrpc: '2.0', id: 1, method, params: [] });
  const { text } = await sendRequest(url, { body, headers, timeoutMs: 5_000 });
  const { result, error } = Response.parse(parseJson(text));
  return error === undefined ? result : error.message;
}

/** Messages of a WebSocket as they come. */
export class MessageReader {
  readonly #socket: WebSocket;
  readonly #messages: string[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (message: Buffer) => this.#messages.push(message.toString()));
  }

  /** @throws Error when the server refuses, with its status in the message */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<MessageReader> {
    const socket = new WebSocket(url, { headers });
    const reader = new MessageReader(socket);
    await once(socket, 'open');
    return reader;
  }

  send(message: object): void {
    this.#socket.send(stringifyJson(message));
  }

  get count(): number {
    return this.#messages.length;
  }

  /** Text of the last message. */
  get last(): string | undefined {
    return this.#messages.at(-1);
  }

  /** Text of the next message after those that came before. */
  async next(): Promise<string> {
    const seen = this.#messages.length;
    while (this.#messages.length === seen) await once(this.#socket, 'message');
    return this.#messages[seen] ?? '';
  }

  close(): void {
    this.#socket.terminate();
  }
}
