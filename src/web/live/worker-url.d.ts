/** Vite resolves these imports to the address of the built worker script. */
declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
declare module '*?worker&url' {
  const url: string;
  export default url;
}
