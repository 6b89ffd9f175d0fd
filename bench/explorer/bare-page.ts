import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { startServer } from '../../runtime/http-server.ts';

/** The least that a list of this many rows can cost: one static document that weighs this many bytes in all. */
export function startBarePage(rows: number, bytes: number): ReturnType<typeof startServer> {
  const row = '<tr data-pool><th>WETH/USDC</th><td>2,999.50</td><td>$288K</td></tr>';
  const table = `<table><tbody>${row.repeat(rows)}</tbody></table>`;
  const filler = randomBytes(Math.max(0, Math.ceil((bytes - table.length) * 0.75))).toString('base64');
  const page = `<!doctype html><title>bare</title><!-- ${filler} -->${table}`;
  return startServer(
    new Hono().get('/', (c) => c.html(page)),
    '127.0.0.1',
    0,
  );
}
