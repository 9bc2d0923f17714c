from pipeline.build import make_dataset
