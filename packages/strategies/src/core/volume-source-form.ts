import { flag, type GoForm, number, plain, pointer, struct, text } from '../shared/go-form.ts'

const secretReference = struct({ Name: text('name'), Namespace: text('namespace') })
const secretRef: GoForm = pointer('secretRef', secretReference)
const fsType = text('fsType')
const readOnly = flag('readOnly')

/** What upstream's PersistentVolumeSource looks like when a message prints it. */
export const persistentVolumeSourceForm: GoForm = struct({
  GCEPersistentDisk: pointer(
    'gcePersistentDisk',
    struct({ PDName: text('pdName'), FSType: fsType, Partition: number('partition'), ReadOnly: readOnly }),
  ),
  AWSElasticBlockStore: pointer(
    'awsElasticBlockStore',
    struct({
      VolumeID: text('volumeID'),
      FSType: fsType,
      Partition: number('partition'),
      ReadOnly: readOnly,
    }),
  ),
  HostPath: pointer('hostPath', struct({ Path: text('path'), Type: plain('type') })),
  Glusterfs: pointer(
    'glusterfs',
    struct({
      EndpointsName: text('endpoints'),
      Path: text('path'),
      ReadOnly: readOnly,
      EndpointsNamespace: plain('endpointsNamespace'),
    }),
  ),
  NFS: pointer('nfs', struct({ Server: text('server'), Path: text('path'), ReadOnly: readOnly })),
  RBD: pointer(
    'rbd',
    struct({
      CephMonitors: plain('monitors'),
      RBDImage: text('image'),
      FSType: fsType,
      RBDPool: text('pool'),
      RadosUser: text('user'),
      Keyring: text('keyring'),
      SecretRef: secretRef,
      ReadOnly: readOnly,
    }),
  ),
  Quobyte: pointer(
    'quobyte',
    struct({
      Registry: text('registry'),
      Volume: text('volume'),
      ReadOnly: readOnly,
      User: text('user'),
      Group: text('group'),
      Tenant: text('tenant'),
    }),
  ),
  ISCSI: pointer(
    'iscsi',
    struct({
      TargetPortal: text('targetPortal'),
      IQN: text('iqn'),
      Lun: number('lun'),
      ISCSIInterface: text('iscsiInterface'),
      FSType: fsType,
      ReadOnly: readOnly,
      Portals: plain('portals'),
      DiscoveryCHAPAuth: flag('chapAuthDiscovery'),
      SessionCHAPAuth: flag('chapAuthSession'),
      SecretRef: secretRef,
      InitiatorName: plain('initiatorName'),
    }),
  ),
  FlexVolume: pointer(
    'flexVolume',
    struct({
      Driver: text('driver'),
      FSType: fsType,
      SecretRef: secretRef,
      ReadOnly: readOnly,
      Options: plain('options'),
    }),
  ),
  Cinder: pointer(
    'cinder',
    struct({ VolumeID: text('volumeID'), FSType: fsType, ReadOnly: readOnly, SecretRef: secretRef }),
  ),
  CephFS: pointer(
    'cephfs',
    struct({
      Monitors: plain('monitors'),
      Path: text('path'),
      User: text('user'),
      SecretFile: text('secretFile'),
      SecretRef: secretRef,
      ReadOnly: readOnly,
    }),
  ),
  FC: pointer(
    'fc',
    struct({
      TargetWWNs: plain('targetWWNs'),
      Lun: plain('lun'),
      FSType: fsType,
      ReadOnly: readOnly,
      WWIDs: plain('wwids'),
    }),
  ),
  Flocker: pointer('flocker', struct({ DatasetName: text('datasetName'), DatasetUUID: text('datasetUUID') })),
  AzureFile: pointer(
    'azureFile',
    struct({
      SecretName: text('secretName'),
      ShareName: text('shareName'),
      ReadOnly: readOnly,
      SecretNamespace: plain('secretNamespace'),
    }),
  ),
  VsphereVolume: pointer(
    'vsphereVolume',
    struct({
      VolumePath: text('volumePath'),
      FSType: fsType,
      StoragePolicyName: text('storagePolicyName'),
      StoragePolicyID: text('storagePolicyID'),
    }),
  ),
  AzureDisk: pointer(
    'azureDisk',
    struct({
      DiskName: text('diskName'),
      DataDiskURI: text('diskURI'),
      CachingMode: plain('cachingMode'),
      FSType: plain('fsType'),
      ReadOnly: plain('readOnly'),
      Kind: plain('kind'),
    }),
  ),
  PhotonPersistentDisk: pointer('photonPersistentDisk', struct({ PdID: text('pdID'), FSType: fsType })),
  PortworxVolume: pointer(
    'portworxVolume',
    struct({ VolumeID: text('volumeID'), FSType: fsType, ReadOnly: readOnly }),
  ),
  ScaleIO: pointer(
    'scaleIO',
    struct({
      Gateway: text('gateway'),
      System: text('system'),
      SecretRef: secretRef,
      SSLEnabled: flag('sslEnabled'),
      ProtectionDomain: text('protectionDomain'),
      StoragePool: text('storagePool'),
      StorageMode: text('storageMode'),
      VolumeName: text('volumeName'),
      FSType: fsType,
      ReadOnly: readOnly,
    }),
  ),
  Local: pointer('local', struct({ Path: text('path'), FSType: plain('fsType') })),
  StorageOS: pointer(
    'storageos',
    struct({
      VolumeName: text('volumeName'),
      VolumeNamespace: text('volumeNamespace'),
      FSType: fsType,
      ReadOnly: readOnly,
      SecretRef: pointer(
        'secretRef',
        struct({
          Kind: text('kind'),
          Namespace: text('namespace'),
          Name: text('name'),
          UID: text('uid'),
          APIVersion: text('apiVersion'),
          ResourceVersion: text('resourceVersion'),
          FieldPath: text('fieldPath'),
        }),
      ),
    }),
  ),
  CSI: pointer(
    'csi',
    struct({
      Driver: text('driver'),
      VolumeHandle: text('volumeHandle'),
      ReadOnly: readOnly,
      FSType: fsType,
      VolumeAttributes: plain('volumeAttributes'),
      ControllerPublishSecretRef: pointer('controllerPublishSecretRef', secretReference),
      NodeStageSecretRef: pointer('nodeStageSecretRef', secretReference),
      NodePublishSecretRef: pointer('nodePublishSecretRef', secretReference),
      ControllerExpandSecretRef: pointer('controllerExpandSecretRef', secretReference),
      NodeExpandSecretRef: pointer('nodeExpandSecretRef', secretReference),
    }),
  ),
})
