/** The address of a worker's script in the built page. */
declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
declare module '*?worker&url' {
  const url: string;
  export default url;
}
