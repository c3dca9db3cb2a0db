"""The data sets by name: where each comes from, its checksums, its licence and its shape.

A card describes the copy that whatleaks reads. Where that copy is a part of the official set
or was packed again, ``complete`` and ``difference`` say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.errors import DataError, nearest


@dataclass(frozen=True)
class SourceFile:
    """One file of a set.

    ``sha256`` is of the file as kept, ``content`` of what a ``.gz`` holds; both are empty where
    we have not seen the file and cannot check it. Where ``address`` is empty the file has no
    public address of its own; ``member`` names it inside an archive.
    """

    name: str
    sha256: str
    content: str = ""
    address: str = ""
    member: str = ""


@dataclass(frozen=True)
class Card:
    """One data set; ``features`` counts the columns besides ``target`` that ``load`` gives."""

    name: str
    title: str
    page: str
    licence: str
    rows: int
    features: int
    target: str
    task: str  # "classification", "regression" or "images"
    note: str = ""
    complete: bool = True
    difference: str = ""
    files: tuple[SourceFile, ...] = ()
    official: tuple[SourceFile, ...] = ()  # read where ``files`` are absent; empty: the same

    @property
    def embedded(self) -> bool:
        """Say whether the set ships with scikit-learn and needs no file."""
        return not self.files


_PUBLISHED = (
    Card(
        name="bank-marketing",
        title="Bank Marketing",
        page="https://archive.ics.uci.edu/dataset/222",
        licence="CC BY 4.0",
        rows=41188,
        features=20,
        target="y",
        task="classification",
        note="duration is known only after the call; many models leave it out (option drop_duration)",
        files=(
            SourceFile(
                "bank-additional-full.csv.gz",
                "25ef5a7f820659c9010405d079b068761b9e4a75c232a6271ee6a77fc3de52ae",
                content="74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
                address="https://archive.ics.uci.edu/static/public/222/bank+marketing.zip",
                member="bank-additional-full.csv",
            ),
        ),
    ),
    Card(
        name="credit-card-default",
        title="Default of Credit Card Clients",
        page="https://archive.ics.uci.edu/dataset/350",
        licence="CC BY 4.0",
        rows=30000,
        features=23,
        target="default.payment.next.month",
        task="classification",
        note="the running number ID is left out",
        difference="the official file is the .xls; the CSV holds the same values with one header row",
        files=(
            SourceFile(
                "UCI_Credit_Card.csv.gz",
                "3b1c8e69fc71fb19229d8d3dedeeaf70012b7706bee03b534a33a6ba32a78394",
                content="a0f0ab49d6326671d6cd83be5c88dcf18007025fe9a53ecd699119c871176ca1",
            ),
        ),
        official=(
            SourceFile(
                "default of credit card clients.xls.gz",
                "1b777974e525e16f7218c857a94edfc34a6847e0fa52a3440324b9065177096b",
                content="30c6be3abd8dcfd3e6096c828bad8c2f011238620f5369220bd60cfc82700933",
                address="https://archive.ics.uci.edu/static/public/350/default+of+credit+card+clients.zip",
                member="default of credit card clients.xls",
            ),
        ),
    ),
    Card(
        name="sensorless-drive",
        title="Dataset for Sensorless Drive Diagnosis",
        page="https://archive.ics.uci.edu/dataset/325",
        licence="CC BY 4.0",
        rows=23404,
        features=48,
        target="class",
        task="classification",
        note="published without column names: f1 to f48 here",
        complete=False,
        difference="a uniform random 40 % of the 58,509 official rows, in the official order",
        files=(
            SourceFile(
                "Sensorless_drive_diagnosis_40pct.txt.gz",
                "997870479d37192484316a96cfd9a62d2a956df899be3f3a6cc06ac86a83488f",
                content="57bd7d946d453d6303cf0eeba6e7bb8b8d94de527afd53a813feeade3abade55",
            ),
            SourceFile(
                "Sensorless_drive_diagnosis_40pct_rows.txt.gz",
                "c9dfeeaa2d99175b66984455551028492799216ce1c1b3e04abdefa1b8bbee40",
                content="8380f7914b625bc7a3c970320478ce1874d5a56d37335c9cfe2b3cc39cfd5630",
            ),
        ),
        official=(
            SourceFile(
                "Sensorless_drive_diagnosis.txt.gz",
                "",
                address="https://archive.ics.uci.edu/static/public/325/dataset+for+sensorless+drive+diagnosis.zip",
                member="Sensorless_drive_diagnosis.txt",
            ),
        ),
    ),
    Card(
        name="online-news",
        title="Online News Popularity",
        page="https://archive.ics.uci.edu/dataset/332",
        licence="CC BY 4.0",
        rows=16125,
        features=58,
        target="shares",
        task="regression",
        note="url and timedelta are left out; the part leans to late 2014: option sample=uniform keeps the 7,928 rows drawn uniformly",
        complete=False,
        difference="16,125 of the 39,644 official rows",
        files=(
            SourceFile(
                "OnlineNewsPopularity_subset.csv.gz",
                "baf2e9eb8a2347c2fbb6251fca09ab4c25f713154a7772a42394833eb068c43a",
                content="0d9d395dcb9d685e6246ac2c9565c019d0baa9f30de582d99b4604a286b995d7",
            ),
            SourceFile(
                "OnlineNewsPopularity_subset_rows20pct.txt.gz",
                "c168d49ea45f03f28bb1864315cd59c733bb6db73ca8cdf002fdd8d000effd63",
                content="e459a337498226615edebc292a6de8b9aa21dc4d7bf3a72dc44ce09070585692",
            ),
        ),
        official=(
            SourceFile(
                "OnlineNewsPopularity.csv.gz",
                "",
                address="https://archive.ics.uci.edu/static/public/332/online+news+popularity.zip",
                member="OnlineNewsPopularity.csv",
            ),
        ),
    ),
    Card(
        name="statlog-satellite",
        title="Statlog (Landsat Satellite)",
        page="https://archive.ics.uci.edu/dataset/146",
        licence="CC BY 4.0",
        rows=6435,
        features=36,
        target="class",
        task="classification",
        note="published without column names: f1 to f36 here; classes 1, 2, 3, 4, 5 and 7",
        files=(
            SourceFile(
                "sat.trn.gz",
                "1f0fbb7702e08d8445c3b2ff907d63fb32a745a227f8bad959e862cec90f132c",
                content="e896dc88a960fa2404160fc4c3cb3dc53fcf4afd80ba920bf2d261bd42d12613",
                address="https://archive.ics.uci.edu/static/public/146/statlog+landsat+satellite.zip",
                member="sat.trn",
            ),
            SourceFile(
                "sat.tst.gz",
                "22f0b2a99c940c78049e3d506f8596531f00a57a31e088003893150b6a57d7d9",
                content="4b9167b8a92baafafed7c8809aef86d0683a5e685c19d98d119fa6974f0f2479",
                address="https://archive.ics.uci.edu/static/public/146/statlog+landsat+satellite.zip",
                member="sat.tst",
            ),
        ),
    ),
    Card(
        name="wall-following-robot",
        title="Wall-Following Robot Navigation Data",
        page="https://archive.ics.uci.edu/dataset/194",
        licence="CC BY 4.0",
        rows=5456,
        features=24,
        target="move",
        task="classification",
        note="24 ultrasound readings: us1 to us24 here",
        files=(
            SourceFile(
                "sensor_readings_24.data.gz",
                "5c0313fe59935edba130b868abbc1cb18ca4141a715e2f5f5c279fbe22a80f18",
                content="6e9728dedef8b35e31ba0be11aea85aa53bd248ab33652777df81b95a4cc8c00",
                address="https://archive.ics.uci.edu/static/public/194/wall+following+robot+navigation+data.zip",
                member="sensor_readings_24.data",
            ),
        ),
    ),
    Card(
        name="adult",
        title="Adult",
        page="https://archive.ics.uci.edu/dataset/2",
        licence="CC BY 4.0",
        rows=48842,
        features=14,
        target="income",
        task="classification",
        note="unknown values are the category '?'",
        files=(
            SourceFile(
                "adult.data.gz",
                "c7a2b4716a97f930123e0baf879188d701e798172631a654fc703d4b082907f3",
                content="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                address="https://archive.ics.uci.edu/static/public/2/adult.zip",
                member="adult.data",
            ),
            SourceFile(
                "adult.test.gz",
                "8a2c1bffa6e7ce5abfa43881ae5e87c4311ebc2b3cd526c9c40a43f19f06f799",
                content="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                address="https://archive.ics.uci.edu/static/public/2/adult.zip",
                member="adult.test",
            ),
        ),
    ),
    Card(
        name="pendigits",
        title="Pen-Based Recognition of Handwritten Digits",
        page="https://archive.ics.uci.edu/dataset/81",
        licence="CC BY 4.0",
        rows=10992,
        features=16,
        target="digit",
        task="classification",
        note="eight pen positions: x1, y1 to x8, y8 here",
        files=(
            SourceFile(
                "pendigits.tra.gz",
                "4566018f665cf5a316549cfed9b9c289d198175c1f424419e2c876c83243002a",
                content="e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
                address="https://archive.ics.uci.edu/static/public/81/pen+based+recognition+of+handwritten+digits.zip",
                member="pendigits.tra",
            ),
            SourceFile(
                "pendigits.tes.gz",
                "1f4837e6c3a064ff81082886c89645b4a1468646edf01e065a2012e54ba97e90",
                content="8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
                address="https://archive.ics.uci.edu/static/public/81/pen+based+recognition+of+handwritten+digits.zip",
                member="pendigits.tes",
            ),
        ),
    ),
    Card(
        name="grid-stability",
        title="Electrical Grid Stability Simulated Data",
        page="https://archive.ics.uci.edu/dataset/471",
        licence="CC BY 4.0",
        rows=10000,
        features=12,
        target="stabf",
        task="classification",
        note="stab is left out: stabf is its sign",
        files=(
            SourceFile(
                "Data_for_UCI_named.csv.gz",
                "bd73d730489ea5f4fe5535005ac8b091787382b9c11d4e706d2110d832942efe",
                content="02bcd212dc31b6d1b9acbf8d7f7e722a50da917ae204ba34d9dbd3d824d2e255",
                address="https://archive.ics.uci.edu/static/public/471/electrical+grid+stability+simulated+data.zip",
                member="Data_for_UCI_named.csv",
            ),
        ),
    ),
    Card(
        name="mnist",
        title="MNIST",
        page="http://yann.lecun.com/exdb/mnist/",
        licence="CC BY-SA 3.0",
        rows=70000,
        features=784,
        target="digit",
        task="images",
        note="60,000 training and 10,000 test pictures of 28 x 28",
        difference="the same idx files, packed again",
        files=(
            SourceFile(
                "train-images-idx3-ubyte.gz",
                "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",
                content="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                address="https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz",
            ),
            SourceFile(
                "train-labels-idx1-ubyte.gz",
                "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
                content="65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                address="https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz",
            ),
            SourceFile(
                "t10k-images-idx3-ubyte.gz",
                "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
                content="0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                address="https://ossci-datasets.s3.amazonaws.com/mnist/t10k-images-idx3-ubyte.gz",
            ),
            SourceFile(
                "t10k-labels-idx1-ubyte.gz",
                "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
                content="ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                address="https://ossci-datasets.s3.amazonaws.com/mnist/t10k-labels-idx1-ubyte.gz",
            ),
        ),
    ),
    Card(
        name="fashion-mnist",
        title="Fashion-MNIST",
        page="https://github.com/zalandoresearch/fashion-mnist",
        licence="MIT",
        rows=70000,
        features=784,
        target="article",
        task="images",
        note="60,000 training and 10,000 test pictures of 28 x 28",
        files=(
            SourceFile(
                "train-images-idx3-ubyte.gz",
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                content="c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                address="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
            ),
            SourceFile(
                "train-labels-idx1-ubyte.gz",
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                content="bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                address="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz",
            ),
            SourceFile(
                "t10k-images-idx3-ubyte.gz",
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                content="5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                address="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
            ),
            SourceFile(
                "t10k-labels-idx1-ubyte.gz",
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
                content="0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
                address="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz",
            ),
        ),
    ),
    Card(
        name="cifar10",
        title="CIFAR-10",
        page="https://www.cs.toronto.edu/~kriz/cifar.html",
        licence="none stated; cite Krizhevsky 2009",
        rows=12000,
        features=3072,
        target="class",
        task="images",
        note="10,000 training and 2,000 test pictures of 32 x 32 x 3, balanced by class",
        complete=False,
        difference="the first 1,000 training and 200 test pictures of each class, repacked as .npz",
        files=(
            SourceFile(
                "cifar10_train10000.npz",
                "0d837c9e4a339558813b75505f29aecad16cbdb92022dc50e66ec0c92b59f49b",
            ),
            SourceFile(
                "cifar10_test2000.npz",
                "3a08a10c3060be6faabf2512cda6e703e504643465bf8c2698886a23b30846a8",
            ),
        ),
    ),
    Card(
        name="rt-iot2022",
        title="RT-IoT2022",
        page="https://archive.ics.uci.edu/dataset/942",
        licence="CC BY 4.0",
        rows=123117,
        features=83,
        target="Attack_type",
        task="classification",
        note="the running number without a name is left out",
        difference="published under the name RT_IOT2022, without an ending",
        files=(
            SourceFile(
                "RT_IOT2022.csv.gz",
                "0841dfa83be60ddf7026194b180afceb8bd0e395d48ba79ea47dbb455ee741f7",
                content="956956c09c1764584fa08acd0f6876475626bcedcd6a6b1f8c492c2e9a2089ea",
                address="https://archive.ics.uci.edu/static/public/942/rt-iot2022.zip",
                member="RT_IOT2022",
            ),
        ),
    ),
    Card(
        name="tiny-imagenet",
        title="Tiny ImageNet (Stanford CS231n)",
        page="http://cs231n.stanford.edu/tiny-imagenet-200.zip",
        licence="ImageNet terms: non-commercial research and education only",
        rows=2000,
        features=12288,
        target="wnid",
        task="images",
        note="1,600 training and 400 validation pictures of 64 x 64 x 3, 200 classes",
        complete=False,
        difference="eight training and two validation pictures of each class, decoded to uint8 RGB, repacked as .npz",
        files=(
            SourceFile(
                "tiny_imagenet_subset2000.npz",
                "8d8e1356258176bf9807246c37ef0f8c9096f377de68ebb6cb7216a75c1873dc",
            ),
        ),
    ),
    Card(
        name="residential-building",
        title="Residential Building Data Set",
        page="https://archive.ics.uci.edu/dataset/437",
        licence="CC BY 4.0",
        rows=372,
        features=107,
        target="V-9",
        task="regression",
        note="two targets: V-9 (sales price) and V-10 (cost); the one not chosen is left out",
        difference="the official file is the .xlsx; the CSV is its sheet Data with one header row, repeated names marked .lag1 to .lag5",
        files=(
            SourceFile(
                "Residential-Building-Data-Set.csv.gz",
                "8e08e497417fb7e0168a3614fa6a5b1f67823da927063a2a44adaf19d8bb8a76",
                content="bf3ba5c075e9767241fde0404abd04739c58a89f3ef9dee7324e738e8356255b",
            ),
        ),
        official=(
            SourceFile(
                "Residential-Building-Data-Set.xlsx.gz",
                "7017332e369ec929ab5135df75f9da788de8ae1dae017960e831f7936a178b6f",
                content="56ccbc261b0f1ceb50e10e3f0cd02794f8cdd16a3ffb9788eeb505e706642655",
                address="https://archive.ics.uci.edu/static/public/437/residential+building+data+set.zip",
                member="Residential-Building-Data-Set.xlsx",
            ),
        ),
    ),
    Card(
        name="wine-quality",
        title="Wine Quality (red)",
        page="https://archive.ics.uci.edu/dataset/186",
        licence="CC BY 4.0",
        rows=1599,
        features=11,
        target="quality",
        task="classification",
        note="quality 3 to 8; the smallest class has 10 rows",
        files=(
            SourceFile(
                "winequality-red.csv.gz",
                "bb4d056e7e6f9614f956578f99a192fa07c673b656154f4c1dd3fb0f30ba899f",
                content="4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
                address="https://archive.ics.uci.edu/static/public/186/wine+quality.zip",
                member="winequality-red.csv",
            ),
        ),
    ),
    Card(
        name="boston-housing",
        title="Boston Housing (StatLib, formerly UCI)",
        page="https://lib.stat.cmu.edu/datasets/boston",
        licence="none stated",
        rows=506,
        features=13,
        target="MEDV",
        task="regression",
        note="column B is ethically contested: prefer another set where possible",
        files=(
            SourceFile(
                "housing.data.gz",
                "c239ba0faae71c66392596d26178b1de0f49bebd4783a24545e8c3064d02ad87",
                content="baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
                address="https://archive.ics.uci.edu/ml/machine-learning-databases/housing/housing.data",
            ),
        ),
    ),
    Card(
        name="fish-market",
        title="Fish Market (Kaggle)",
        page="https://www.kaggle.com/datasets/aungpyaeap/fish-market",
        licence="unconfirmed",
        rows=159,
        features=6,
        target="Species",
        task="classification",
        note="option target=Weight makes it a regression",
        files=(
            SourceFile(
                "Fish.csv.gz",
                "bc89d0ac420204c94eadb6d1dafbe60f22872b947cfd13006f92fa64c939ebf2",
                content="561fc2f04d95698b65eca8094fc99170994947bda61c3ffe7a0d21e61bbbe341",
            ),
        ),
    ),
    Card(
        name="motor-temperature",
        title="Electric Motor Temperature (Paderborn University), vertical sample from FATE",
        page="https://www.kaggle.com/datasets/wkirgsn/electric-motor-temperature",
        licence="unconfirmed for the data; FATE: Apache 2.0",
        rows=800,
        features=11,
        target="pm",
        task="regression",
        note="12 columns (5 guest, 7 host), pm the target; the guest's stator_* columns are temperatures too",
        complete=False,
        difference="800 standardised rows of the published set, split by feature and joined by idx",
        files=(
            SourceFile(
                "motor_hetero_guest.csv.gz",
                "46c91766fe24d2bdadd1989bf1f505698e80579f452c6b9a0ba79dd2f22c07dd",
                content="65180fb9f3d0dbf6c154bc286dce9e6cb839de16c11947eb6fb94c5446662f35",
                address="https://raw.githubusercontent.com/FederatedAI/FATE/v1.11.4/examples/data/motor_hetero_guest.csv",
            ),
            SourceFile(
                "motor_hetero_host.csv.gz",
                "29aefa4196ffffe27d8a57c3af91b1701dc59b8b1dcf4b514ad0ef78dbce2867",
                content="f4389617b116fe5ebd024448f8e77032cdf701449bb8ecea13917417e9415fd7",
                address="https://raw.githubusercontent.com/FederatedAI/FATE/v1.11.4/examples/data/motor_hetero_host.csv",
            ),
        ),
    ),
    Card(
        name="statlog-vehicle",
        title="Statlog (Vehicle Silhouettes)",
        page="https://archive.ics.uci.edu/dataset/149",
        licence="CC BY 4.0",
        rows=846,
        features=18,
        target="class",
        task="classification",
        note="nine files as published; names of the 18 shape measures as documented",
        files=(
            SourceFile(
                "xaa.dat.gz",
                "dfd9a6b21e01d5c642379a28b521ff391868630c75f6eeb5278eb54b8477a9d5",
                content="7fd869de06e71e027cfd8d2a4720d0e3cbead77fef5a8a1d81fa628bb61d6d2d",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xaa.dat",
            ),
            SourceFile(
                "xab.dat.gz",
                "a69acdb8feaa227ffe0c2ba6c82875c87a438f6ae3458ff76a69399903b8decf",
                content="eb9b39becd4d0c4e77e2a5d47732d83960b6418243eac39da261a290178ee0f7",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xab.dat",
            ),
            SourceFile(
                "xac.dat.gz",
                "47fe3b2b03e60e72bb5667644d7d2f0ec92ec38ef55ed15889f0af97c67a8b6c",
                content="4975a47f907d7dab052518f5aceefab03c9eb50d52b108e7641bc7bf2982ed06",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xac.dat",
            ),
            SourceFile(
                "xad.dat.gz",
                "4673d5b8eb0e72db9f542781ed3f223f8de7dad3bf33f87660c0a6676e831a89",
                content="4d026d84e318e4a7d60d207c84475d3caa869f499276bd58cdee386ca628c678",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xad.dat",
            ),
            SourceFile(
                "xae.dat.gz",
                "e9e075084674393d8743310fa84ec8e6dc30222a2ea35446531cdbf3e962ed0c",
                content="b65fc1395cb068b9f579796969dc80944124c42b5d7cbd92a19b34bfd6173309",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xae.dat",
            ),
            SourceFile(
                "xaf.dat.gz",
                "c52639a1f2b8d72c725144bb779abbcd120fd9ab23a9a925a501ccd1792870d0",
                content="297d6811d98c355819addd03678b8a8ac4f8355ca7c556bae2f1f2427afad97c",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xaf.dat",
            ),
            SourceFile(
                "xag.dat.gz",
                "58067ab2461e5f8bc7767f65061c7c68a4e0ffe9809e57c3b85b4be9f91bcce4",
                content="e343075bc28293062f1ca82d955c1406235e3d63c419c5ef67ebb9e8516e1eec",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xag.dat",
            ),
            SourceFile(
                "xah.dat.gz",
                "df9d5586a848525b531e0d3cfb6852580a1d5d2eeadaef72852690a56ffd92e2",
                content="4befe2b54c121bc94fbc4599196180b33e646c7a52a345d1f91d90666e260480",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xah.dat",
            ),
            SourceFile(
                "xai.dat.gz",
                "1bb4a63aeaf3e3bd460768afcc2023b0e2a18ed773f56e91cd7883c3faa0416d",
                content="74781b1c689c3e4899f6021f55a054bf020cf38f74d699faeb6ad72c724af92e",
                address="https://archive.ics.uci.edu/static/public/149/statlog+vehicle+silhouettes.zip",
                member="xai.dat",
            ),
        ),
    ),
)

_EMBEDDED = (
    Card(
        name="breast-cancer",
        title="Breast Cancer Wisconsin (Diagnostic)",
        page="https://archive.ics.uci.edu/dataset/17",
        licence="CC BY 4.0",
        rows=569,
        features=30,
        target="diagnosis",
        task="classification",
        note="ships with scikit-learn; the default of make audit",
    ),
    Card(
        name="iris",
        title="Iris",
        page="https://archive.ics.uci.edu/dataset/53",
        licence="CC BY 4.0",
        rows=150,
        features=4,
        target="species",
        task="classification",
        note="ships with scikit-learn",
    ),
    Card(
        name="wine",
        title="Wine recognition",
        page="https://archive.ics.uci.edu/dataset/109",
        licence="CC BY 4.0",
        rows=178,
        features=13,
        target="cultivar",
        task="classification",
        note="ships with scikit-learn",
    ),
    Card(
        name="digits",
        title="Optical Recognition of Handwritten Digits (test part)",
        page="https://archive.ics.uci.edu/dataset/80",
        licence="CC BY 4.0",
        rows=1797,
        features=64,
        target="digit",
        task="classification",
        note="ships with scikit-learn; three pixels are constant",
    ),
    Card(
        name="diabetes",
        title="Diabetes (Efron, Hastie, Johnstone and Tibshirani 2004)",
        page="https://www4.stat.ncsu.edu/~boos/var.select/diabetes.html",
        licence="none stated",
        rows=442,
        features=10,
        target="progression",
        task="regression",
        note="ships with scikit-learn; unscaled values",
    ),
)

CARDS: dict[str, Card] = {card.name: card for card in (*_EMBEDDED, *_PUBLISHED)}


def names(task: str | None = None) -> tuple[str, ...]:
    """Return the names of all sets, or of those for one task."""
    return tuple(card.name for card in CARDS.values() if task in (None, card.task))


def card(name: str) -> Card:
    """Return the card of a set; an unknown name is refused with the nearest known one."""
    if name not in CARDS:
        raise DataError(
            f"there is no data set {name!r}.{nearest(name, CARDS)} "
            "'whatleaks data list' shows all names."
        )
    return CARDS[name]
