import { getRoute } from '../common/editor/routes';

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
  const body: unknown = await getRoute('apps');
  return body as Application[];
}

/** What the editor calls an application. */
export const applicationName = ({ id, name }: Application): string => {
  const node = RED.nodes.node(id);
  return name || (node ? RED.utils.getNodeLabel(node, id) : id);
};
