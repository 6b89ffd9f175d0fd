/** No node of a chain answers, or none as it should. */
export class NodeAwayError extends Error {
  readonly code = 'NODE_AWAY';
  override readonly name = 'NodeAwayError';
}
