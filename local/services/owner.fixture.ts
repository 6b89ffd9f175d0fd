/** Starts every service, prints what must not outlive it as one JSON line, and waits to be killed. */
import { startAnvil } from '../../devnet/anvil.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

const postgres = await startPostgres();
const [redis, anvil] = await Promise.all([startRedis(), startAnvil({ chainId: 31337 })]);
const pids = [postgres.pid(), redis.pid(), anvil.pid];
process.stdout.write(`${JSON.stringify({ pids, urls: [postgres.url, redis.url, anvil.url] })}\n`);
setInterval(() => undefined, 1_000);
