/** An application as `device-cloud/apps` lists it. */
export interface Application {
  id: string;
  name: string;
  service: 'cloud' | 'simulator';
  devices: number;
  online: number;
}

/** The applications that run. */
export async function readApplications(): Promise<Application[]> {
  // Neither `/` nor `.` comes first, so that Node-RED adds its root and the bearer token.
  const body: unknown = await $.getJSON('device-cloud/apps');
  // Trusts the type, since the route is this package's own.
  return body as Application[];
}

/** What the editor calls an application. */
export const applicationName = ({ id, name }: Application): string => {
  const node = RED.nodes.node(id);
  return name || (node ? RED.utils.getNodeLabel(node, id) : id);
};
