import { existsSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Address } from 'viem';
import { measureBlockTime } from '../chain/block-time.ts';
import type { ChainRpc } from '../chain/chain-rpc.ts';
import { openRetryingRpc } from '../chain/discovery/retrying-rpc.ts';
import type { MulticallTarget } from '../chain/multicall.ts';
import { type ChainConfig, MULTICALL3 } from '../config/chains-schema.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseChainsFile, readWrittenChains, resolveRpcUrl, resolveWsUrl } from '../config/load-chains.ts';
import { RpcUrlOrEnv, WsUrlOrEnv } from '../config/scalars.ts';
import { LAYOUT_NAMES } from '../protocol/layouts/event-layouts.ts';
import { addressArgument, blockArgument, blockTimeArgument, chainIdArgument } from './arguments.ts';
import { ask } from './chain-add/ask.ts';
import { askParts, findParts } from './chain-add/ask-parts.ts';
import { chooseContracts } from './chain-add/choose-contracts.ts';
import { complete, writeChainsJson } from './chain-add/complete-file.ts';
import { describe } from './chain-add/describe.ts';
import { type FoundDeployment, findDeployment } from './chain-add/find-deployment.ts';
import { probeAbilities } from './chain-add/probed-abilities.ts';
import { checkPrices } from './config-check/chain-settings.ts';
import { checkChain } from './config-check/check-chain.ts';
import { addCommand, printResult, runCommand } from './run-command.ts';

interface Options {
  readonly file?: string;
  readonly chain?: number;
  readonly node?: string;
  readonly ws?: string;
  readonly factory?: readonly Address[];
  readonly trust?: readonly Address[];
  readonly parts?: true;
  readonly name?: string;
  readonly contractVersion: string;
  readonly layout?: string;
  readonly fromBlock?: number;
  readonly blockTime?: number;
  readonly json?: true;
}

const program = new Command('chain').description('Chains of a chains file.');

const addresses = (text: string) => text.split(',').map((each) => addressArgument(each.trim()));
const listOf = (text: string, list: readonly Address[] = []) => [...list, addressArgument(text)];

addCommand(program, 'add', 'Find what a chains file says of a chain by the chain itself, and write what the file lacks')
  .option('--file <path>', 'chains file to write; default: CHAINS_CONFIG')
  .option('--chain <id>', 'chain id; default: that of the node', chainIdArgument)
  .option('--node <url>', 'http(s) URL of a node, or env:NAME; default: those of the file', urlArgument(RpcUrlOrEnv))
  .option('--ws <url>', 'ws(s) URL of a node that pushes heads, or env:NAME', urlArgument(WsUrlOrEnv))
  .option('--factory <address>', 'pool factory, may be repeated; default: those of the file', listOf)
  .option('--trust <address>', 'take this contract for what it looks like, may be repeated', listOf)
  .option('--parts', 'add a live source over the node and socket, if they follow parts of blocks')
  .option('--name <name>', 'name of the chain in pool records')
  .option('--contract-version <name>', 'contract release as clients see it', 'v1')
  .addOption(new Option('--layout <layout>', 'layout, where pools do not show it').choices(LAYOUT_NAMES))
  .option('--from-block <number>', 'block of the factory, where the node does not show it', blockArgument)
  .option('--block-time <ms>', 'time between blocks, where the chain does not show it', blockTimeArgument)
  .addHelpText(
    'after',
    `
On a terminal it asks for what is missing. Keys that the file has stay as they are. It writes extensions and provider
factories which the account made that made the pool factory; others are listed, since anybody can copy a contract.

Examples:
  npm run chain -- add --file chains.json                                     asks for the node and the factory
  npm run chain -- add --file chains.json --node env:RPC_URL_8453 --factory 0x2a53833cc95548cf52c7b159110e22D3a9018f32
  npm run chain -- add --file config/mainnet.json --chain 8453                completes a chain of the file

Settings: CHAINS_CONFIG, when no file is named, and the variables that the file names.
Exit codes: 0 written, or nothing to add; 1 wrong argument, file, node or factory: nothing is written; 75 try again: no node answers.`,
  )
  .action(add);

async function add(options: Options): Promise<void> {
  const path = options.file ?? process.env.CHAINS_CONFIG ?? (await ask('Chains file', '--file', String, 'chains.json'));
  const setting = path === process.env.CHAINS_CONFIG ? 'CHAINS_CONFIG' : '--file';
  const { file, chains } = existsSync(path) ? readWrittenChains(path, setting) : { file: { chains: [] }, chains: [] };
  const entryOf = (id: number | undefined) => chains.find((it) => it.chainId === id);
  const urls = options.node ? [options.node] : (entryOf(options.chain)?.rpcUrls ?? [await askNode()]);
  const { rpc, chainId } = await openNodes(urls, options.chain);
  const existing = entryOf(chainId);
  const ws = options.ws ?? existing?.wsUrls?.[0];
  const name = options.name ?? existing?.name ?? (await ask('Name of the chain', '--name', String, `chain-${chainId}`));
  const blockTimeMs = existing?.blockTimeMs ?? options.blockTime ?? (await blockTimeOf(rpc));
  const abilities = await probeAbilities(rpc, ws ? resolveWsUrl(ws, process.env, chainId) : null);
  const target = { rpc, chainId, multicall3: existing?.multicall3 ?? MULTICALL3 };
  const wsUrls = existing?.wsUrls ?? (ws ? [ws] : []);
  const parts = await findParts(target, { rpcUrls: urls, wsUrls });
  const node = { ...abilities, parts: wsUrls.length > 0 ? parts !== null : null };
  const live = parts && !existing?.live ? await askParts(parts, options.parts ?? false) : undefined;
  const factories = await readFactories(target, options, existing);
  const trusted = await askTrust(factories, new Set(options.trust), namedIn(existing));
  const versionOf = ({ poolFactory }: FoundDeployment) =>
    existing?.deployments.find((it) => it.poolFactory === poolFactory)?.contractVersion ?? options.contractVersion;
  const chosen = factories.map((facts) => chooseContracts(facts, versionOf(facts), trusted));
  const { written, left } = complete(file, {
    chainId,
    name,
    rpcUrls: existing?.rpcUrls ?? urls,
    ...(ws && !existing?.wsUrls && { wsUrls: [ws] }),
    blockTimeMs,
    ...(live && { live }),
    deployments: chosen.map(({ entry }) => entry),
  });
  if (written.length > 0) await writeChainsJson(path, file);
  const parsed = parseChainsFile(file, path, null);
  const ofChain = parsed.chains.filter((each) => each.chainId === chainId);
  const checks = await Promise.all(ofChain.map((each) => checkChain(each, true)));
  const findings = [...checkPrices({ ...parsed, chains: ofChain }), ...checks.flatMap((check) => check.findings)];
  const unwritten = chosen.flatMap((each) => each.unwritten);
  const report = { path, chainId, node, factories, unwritten, written, left, findings };
  printResult(options.json, report, describe(report));
}

/** The nodes, all of which must be of one chain. @throws ConfigError for another chain than was named */
async function openNodes(urls: readonly string[], wanted: number | undefined) {
  const rpcUrls = urls.map((url) => resolveRpcUrl(url, process.env, wanted ?? 'to be added'));
  const rpc = openRetryingRpc(rpcUrls);
  const chainId = await rpc.request('eth_chainId', [], Number);
  if (wanted !== undefined && wanted !== chainId) throw new ConfigError(`--chain: the node is of chain ${chainId}`);
  return { rpc, chainId };
}

const askNode = () => ask('URL of a node, or env:NAME', '--node', urlArgument(RpcUrlOrEnv));

async function blockTimeOf(rpc: ChainRpc): Promise<number> {
  const measured = await measureBlockTime(rpc);
  if (measured && measured.meanMs > 0) return measured.meanMs;
  const question = 'The chain is too young to show its block time. Milliseconds between blocks';
  return ask(question, '--block-time', blockTimeArgument);
}

async function readFactories(target: MulticallTarget, options: Options, existing: ChainConfig | undefined) {
  const ofFile = existing?.deployments.filter(({ enabled }) => enabled) ?? [];
  const inFile = ofFile.map(({ poolFactory }) => poolFactory);
  const named =
    options.factory ??
    (inFile.length > 0 ? inFile : await ask('Pool factories, separated by commas', '--factory', addresses));
  const facts: FoundDeployment[] = [];
  for (const poolFactory of named) {
    const known = ofFile.find((deployment) => deployment.poolFactory === poolFactory);
    const layout = known?.layout ?? options.layout;
    const fromBlock = known?.fromBlock ?? options.fromBlock;
    facts.push(await findDeployment(target, { poolFactory, layout, fromBlock }));
  }
  return facts;
}

/** What the file's deployments of a chain name: contracts among others. */
function namedIn(existing: ChainConfig | undefined): ReadonlySet<unknown> {
  const named = existing?.deployments.flatMap(({ providerFactories, ...others }) => [
    ...providerFactories.map(({ address }) => address),
    ...Object.values(others).flat(),
  ]);
  return new Set(named);
}

/** Asks for each contract that is not proven and that the file does not name. */
async function askTrust(factories: readonly FoundDeployment[], trusted: Set<Address>, inFile: ReadonlySet<unknown>) {
  for (const { role, address, isProven } of factories.flatMap(({ contracts }) => contracts)) {
    if (isProven || trusted.has(address) || inFile.has(address)) continue;
    const question = `${address} looks like ${role}, but nothing shows that who made the factory made it. Take it for one? (yes/no)`;
    if ((await ask(question, '--trust', String, 'no')) === 'yes') trusted.add(address);
  }
  return trusted;
}

function urlArgument(schema: typeof RpcUrlOrEnv): (text: string) => string {
  return (text) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'not a URL');
  };
}

runCommand(program);
