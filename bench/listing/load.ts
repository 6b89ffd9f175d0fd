import { Agent } from 'node:http';
import { timeRequest } from '../../test/abuse/timed-request.ts';
import { Samples } from '../../test/harness/samples.ts';

/** Clients that ask without pause, each on a connection of its own. */
const CLIENTS = 4;
const ROUNDS = 5;

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

/** @throws Error unless it is answered with 200 */
export async function get(url: string, path: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const { status, ...answer } = await timeRequest(url, { path }, agent);
  if (status !== 200) throw new Error(`${status} ${path}`);
  return answer;
}

/** Asks for a path over and over, and adds the milliseconds of each. */
async function measure(url: string, path: string, requests: number, times: Samples): Promise<void> {
  let sent = 0;
  const client = async () => {
    while (sent++ < requests) times.add((await get(url, path)).ms);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

export interface Compared {
  readonly page: Samples;
  readonly bare: Samples;
  /** Of the page. */
  readonly bytes: number;
}

export interface Comparison {
  readonly path: string;
  /** Path of what the same stack does at least. */
  readonly bare: string;
  /** Of each. */
  readonly requests: number;
  readonly untimed: number;
}

/** Times a page and a bare one in turns, so that noise falls on both. */
export async function compare(url: string, { path, bare, requests, untimed }: Comparison): Promise<Compared> {
  const { bytes } = await get(url, path);
  const times = { page: new Samples(), bare: new Samples() };
  for (const each of [path, bare]) await measure(url, each, untimed, new Samples());
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    await measure(url, path, requests / ROUNDS, times.page);
    await measure(url, bare, requests / ROUNDS, times.bare);
  }
  return { ...times, bytes };
}

/** Medians and slowest hundredths of both, and what the page takes of the bare one. */
export function comparedCells({ page, bare }: Compared): string[] {
  const figures = [page.median, page.p99, bare.median, bare.p99, page.median / bare.median, page.p99 / bare.p99];
  return figures.map((value) => value.toFixed(2));
}
