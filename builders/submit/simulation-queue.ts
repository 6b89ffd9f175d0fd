/** Name of the queue of updates of a chain that are to be simulated. */
export const simulationQueueId = (chainId: number): string => `${chainId}-simulation`;
