/** Change notifications of connections, across processes. */
export interface ConnectionChanges {
  /**
   * Yields the current revision of a connection, then each later one (several at once may come as the last of them; read
   * `connections.statesSince` for those between). Ends when `signal` aborts, the connection is removed or the store closes.
   */
  watch(connectionId: string, signal: AbortSignal): AsyncIterable<number>;
}
